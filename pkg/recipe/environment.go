package recipe

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"
)

// local is the environment that is this host.
const local = "local"

// none is the mitigation that mitigates nothing.
const none = "none"

// mitigations is the registry: the variables each name sets.
var mitigations = map[string]map[string]string{
	none:                     {},
	"hsa_no_scratch_reclaim": {"HSA_NO_SCRATCH_RECLAIM": "1"},
}

// inlineName names an environment that is only an image: four bytes of its BLAKE2b.
func inlineName(image string) string {
	h, err := blake2b.New(4, nil)
	if err != nil {
		panic(err) // 4 is a legal size
	}
	h.Write([]byte(image))
	return "_inline_" + hex.EncodeToString(h.Sum(nil))
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ownedVariables are set for every engine: paths into the work root, and what follows from other keys.
var ownedVariables = []string{
	"HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR",
	"XDG_CACHE_HOME", "HOME", "USER", "LOGNAME", "HIP_VISIBLE_DEVICES",
}

// ownedVariable says why a variable is not the recipe's to set, "" when it is.
func ownedVariable(variable, tokenVariable string) string {
	switch {
	case variable == tokenVariable || variable == "HF_TOKEN":
		return "it is a secret; hf_token_env names it, and its value comes from the host"
	case variable == "HIP_VISIBLE_DEVICES":
		return "hip_visible_devices sets it"
	case variable == "HF_HUB_OFFLINE" || variable == "TRANSFORMERS_OFFLINE":
		return "hf_offline sets it"
	case slices.Contains(ownedVariables, variable):
		return "it is set for every engine"
	case strings.HasPrefix(variable, "TS_"):
		return "variables TS_… belong to the protocol between runner and engine"
	}
	return ""
}
