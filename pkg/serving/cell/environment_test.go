package cell

import (
	"path/filepath"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

func TestEngineEnv(t *testing.T) {
	root, err := workroot.Open(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	serve := &recipe.Serve{HFTokenEnv: "MY_TOKEN", HFOffline: true, HIPVisibleDevices: "0,1"}
	cell := &recipe.Cell{Serve: serve, Env: map[string]string{"HSA_NO_SCRATCH_RECLAIM": "1", "TRITON_CACHE_DIR": "/mine"}}
	got := engineEnv(cell, root, []string{"MY_TOKEN=hf_x", "OTHER=1"})
	for name, want := range map[string]string{
		"HF_TOKEN": "hf_x", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HIP_VISIBLE_DEVICES": "0,1", "HSA_NO_SCRATCH_RECLAIM": "1",
		"HF_HOME": root.Caches().HF, "TRITON_CACHE_DIR": "/mine", // the cell's own wins
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	serve.HFTokenEnv, serve.HFHome = "UNSET_TOKEN", "/models"
	got = engineEnv(cell, root, []string{"MY_TOKEN=hf_x"})
	if _, ok := got["HF_TOKEN"]; ok || got["HF_HOME"] != "/models" {
		t.Errorf("got HF_TOKEN %q and HF_HOME %q, want none and /models", got["HF_TOKEN"], got["HF_HOME"])
	}
}
