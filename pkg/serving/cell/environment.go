package cell

import (
	"maps"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// engineEnv is what a cell sets for its engine over the environment we run in: caches below the work root, the model
// cache and its token, device visibility, and last the cell's mitigations and extra_env.
func engineEnv(c *recipe.Cell, root *workroot.Root, environ []string) map[string]string {
	caches := root.Caches()
	hf := c.Serve.HFHome
	if hf == "" {
		hf = caches.HF
	}
	env := map[string]string{
		"HF_HOME": hf, "HF_HUB_CACHE": hf + "/hub", "XDG_CACHE_HOME": caches.XDG,
		"TRITON_CACHE_DIR": caches.Triton, "TORCHINDUCTOR_CACHE_DIR": caches.Inductor,
	}
	if c.Serve.HFOffline {
		env["HF_HUB_OFFLINE"], env["TRANSFORMERS_OFFLINE"] = "1", "1"
	}
	if token, ok := lookup(environ, c.Serve.HFTokenEnv); ok {
		env["HF_TOKEN"] = token
	}
	if c.Serve.HIPVisibleDevices != "" {
		env["HIP_VISIBLE_DEVICES"] = c.Serve.HIPVisibleDevices
	}
	maps.Copy(env, c.Env)
	return env
}

func lookup(environ []string, name string) (string, bool) {
	if name == "" {
		return "", false
	}
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, value != ""
		}
	}
	return "", false
}
