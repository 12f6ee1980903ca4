package matrix

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Machine is where GPUs are counted; the paths are parameters so that tests can show a machine.
type Machine struct {
	// KFD holds one folder per node of the ROCm kernel driver's topology, CPUs among them.
	KFD string
	// Dev holds the device files.
	Dev string
	// Getenv answers for the variables that narrow what a process sees.
	Getenv func(string) string
}

// ThisMachine counts where Linux keeps them.
func ThisMachine(getenv func(string) string) Machine {
	return Machine{KFD: "/sys/class/kfd/kfd/topology/nodes", Dev: "/dev", Getenv: getenv}
}

var (
	simdCount = regexp.MustCompile(`(?m)^simd_count ([0-9]+)$`)
	nvidia    = regexp.MustCompile(`^nvidia[0-9]+$`)
)

// GPUs counts the GPUs that a process of this machine sees: nodes of the KFD topology with SIMD units
// and NVIDIA device files, narrowed by the visibility variables. No driver library is asked, so a
// broken one cannot be taken for a machine without GPUs.
func (m Machine) GPUs() int {
	amd := narrowed(m.kfdNodes(), m.Getenv("ROCR_VISIBLE_DEVICES"))
	amd = narrowed(amd, m.Getenv("HIP_VISIBLE_DEVICES"))
	return amd + narrowed(m.nvidiaFiles(), m.Getenv("CUDA_VISIBLE_DEVICES"))
}

func (m Machine) kfdNodes() int {
	n := 0
	files, _ := filepath.Glob(filepath.Join(m.KFD, "*", "properties"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if match := simdCount.FindSubmatch(text); err == nil && match != nil && strings.Trim(string(match[1]), "0") != "" {
			n++
		}
	}
	return n
}

func (m Machine) nvidiaFiles() int {
	n := 0
	entries, _ := os.ReadDir(m.Dev)
	for _, e := range entries {
		if nvidia.MatchString(e.Name()) {
			n++
		}
	}
	return n
}

// narrowed is at most as many devices as the variable lists. "-1" is how none is written.
func narrowed(n int, list string) int {
	if list == "" {
		return n
	}
	listed := 0
	for _, device := range strings.Split(list, ",") {
		if device = strings.TrimSpace(device); device == "" || device == "-1" {
			break
		}
		listed++
	}
	return min(n, listed)
}
