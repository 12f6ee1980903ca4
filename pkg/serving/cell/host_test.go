package cell

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
)

// tree writes files below a folder that stands for the root of a host.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		if err := writeFile(filepath.Join(root, path), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestHost(t *testing.T) {
	card := "sys/class/drm/card1/device/"
	root := tree(t, map[string]string{
		"proc/sys/kernel/osrelease": "6.8.0-60-generic\n", "proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC 9575F\n", "proc/meminfo": "MemTotal:       97 kB\n",
		card + "vendor": "0x1002\n", card + "device": "0x75a0\n", card + "uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:05:00.0\n",
		card + "product_name": "AMD Instinct MI350X\n", card + "hwmon/hwmon3/power1_cap": "1000000000\n",
		"sys/class/drm/card0/device/vendor": "0x1a03\n", // a console's own chip
		"sys/module/amdgpu/version":         "6.14.14\n", "opt/rocm/.info/version": "7.0.2\n",
	})
	h := readHost(root)
	if h.Kernel != "6.8.0-60-generic" || h.CPUModel != "AMD EPYC 9575F" || h.MemoryKB != 97 {
		t.Errorf("got %+v", h)
	}
	want := []GPU{{Address: "0000:05:00.0", Model: "AMD Instinct MI350X", PowerCapW: "1000"}}
	if diff := cmp.Diff(want, h.GPUs); diff != "" {
		t.Errorf("GPUs (-want +got):\n%s", diff)
	}
	wantPrint := report.Fingerprint{"driver": "6.14.14", "rocm": "7.0.2", "gpu_model": "AMD Instinct MI350X", "gpu_count": "1", "gpu_power_cap": "1000"}
	if diff := cmp.Diff(wantPrint, h.fingerprint()); diff != "" {
		t.Errorf("fingerprint (-want +got):\n%s", diff)
	}
}

func TestHostOfTheOtherVendor(t *testing.T) {
	root := tree(t, map[string]string{
		"proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 0\n",
		"proc/driver/nvidia/gpus/0000:02:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\n",
		"sys/module/nvidia/version":                        "570.86.15\n",
		"usr/local/cuda/version.json":                      `{"cuda": {"name": "CUDA SDK", "version": "12.8.1"}, "cuda_cudart": {"version": "12.8.90"}}`,
	})
	want := report.Fingerprint{"driver": "570.86.15", "cuda": "12.8.1", "gpu_model": "NVIDIA H100 80GB HBM3", "gpu_count": "2"}
	if diff := cmp.Diff(want, readHost(root).fingerprint()); diff != "" {
		t.Errorf("fingerprint (-want +got):\n%s", diff)
	}
}

func TestFingerprintOfACell(t *testing.T) {
	cell := &recipe.Cell{Serve: &recipe.Serve{Client: recipe.ClientNative}}
	got := fingerprint(cell, []*trial{{facts: engine.Facts{SHA256: "ab"}}})
	if got[report.EngineDigest] != "sha256:ab" || got[report.Client] != "native" || got[report.RecipeDigest] == "" {
		t.Errorf("got %v, want engine, client and recipe", got)
	}
}

func TestFreshFolder(t *testing.T) {
	base := filepath.Join(t.TempDir(), "deep")
	for _, want := range []string{"now", "now-2", "now-3"} {
		dir, err := freshFolder(base, "now")
		if err != nil || filepath.Base(dir) != want {
			t.Fatalf("got %s, %v, want %s", dir, err, want)
		}
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
}
