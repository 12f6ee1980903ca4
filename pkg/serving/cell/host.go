package cell

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// Host is what the machine tells about itself for the asking: files of /proc and /sys, no tool of a vendor.
type Host struct {
	Name     string `json:"hostname"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Kernel   string `json:"kernel"`
	Boot     string `json:"boot_id"`
	CPUModel string `json:"cpu_model"`
	CPUs     int    `json:"cpus"`
	Governor string `json:"cpu_governor"`
	MemoryKB int64  `json:"memory_total_kb"`
	Load     string `json:"load_average"`
	GPUs     []GPU  `json:"gpus"`

	// AMDDriver is the version of the amdgpu module, NVIDIADriver that of the nvidia module; empty without.
	AMDDriver    string `json:"amd_driver"`
	NVIDIADriver string `json:"nvidia_driver"`

	// ROCm is the version in /opt/rocm/.info, CUDA that in /usr/local/cuda/version.json; empty without.
	ROCm string `json:"rocm"`
	CUDA string `json:"cuda"`
}

// GPU is one device.
type GPU struct {
	// Address is its PCI address, Model its name or, without one, vendor:device.
	Address string `json:"pci_address"`
	Model   string `json:"model"`

	// PowerCapW is the power limit in watts as the driver states it; empty when it does not.
	PowerCapW string `json:"power_cap_w"`
}

// ReadHost asks the running machine.
func ReadHost() Host { return readHost("/") }

// readHost reads below root, which tests put a recorded tree at.
func readHost(root string) Host {
	read := func(path string) string {
		raw, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(raw))
	}
	h := Host{
		Name: read("proc/sys/kernel/hostname"), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		Kernel: read("proc/sys/kernel/osrelease"), Boot: read("proc/sys/kernel/random/boot_id"), Load: read("proc/loadavg"),
		Governor:  read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		CPUModel:  field(read("proc/cpuinfo"), "model name"),
		AMDDriver: read("sys/module/amdgpu/version"), NVIDIADriver: read("sys/module/nvidia/version"),
		ROCm: read("opt/rocm/.info/version"), CUDA: firstMatch(cudaVersion, read("usr/local/cuda/version.json")),
	}
	h.MemoryKB, _ = strconv.ParseInt(strings.TrimSuffix(field(read("proc/meminfo"), "MemTotal"), " kB"), 10, 64)
	h.GPUs = append(amdGPUs(root, read), nvidiaGPUs(root, read)...)
	return h
}

var cudaVersion = regexp.MustCompile(`"cuda"\s*:\s*\{[^}]*"version"\s*:\s*"([^"]+)"`)

// amdGPUs lists the cards of the amdgpu driver, each PCI device once.
func amdGPUs(root string, read func(string) string) []GPU {
	cards, _ := filepath.Glob(filepath.Join(root, "sys/class/drm/card*/device/vendor"))
	var out []GPU
	for _, card := range cards {
		dir, _ := filepath.Rel(root, filepath.Dir(card))
		const amd = "0x1002"
		if read(dir+"/vendor") != amd {
			continue
		}
		gpu := GPU{Address: setting(read(dir+"/uevent"), "PCI_SLOT_NAME="), Model: read(dir + "/product_name")}
		if gpu.Model == "" {
			gpu.Model = amd + ":" + read(dir+"/device")
		}
		caps, _ := filepath.Glob(filepath.Join(root, dir, "hwmon/hwmon*/power1_cap"))
		if len(caps) > 0 {
			path, _ := filepath.Rel(root, caps[0])
			if microwatts, err := strconv.ParseInt(read(path), 10, 64); err == nil {
				gpu.PowerCapW = strconv.FormatInt(microwatts/1e6, 10)
			}
		}
		if !slices.ContainsFunc(out, func(g GPU) bool { return g.Address == gpu.Address }) {
			out = append(out, gpu)
		}
	}
	return out
}

func nvidiaGPUs(root string, read func(string) string) []GPU {
	infos, _ := filepath.Glob(filepath.Join(root, "proc/driver/nvidia/gpus/*/information"))
	var out []GPU
	for _, path := range infos {
		rel, _ := filepath.Rel(root, path)
		out = append(out, GPU{Address: filepath.Base(filepath.Dir(path)), Model: field(read(rel), "Model")})
	}
	return out
}

// fingerprint is what of the host makes two measurements comparable.
func (h Host) fingerprint() report.Fingerprint {
	f := report.Fingerprint{}
	set := func(key, value string) {
		if value != "" {
			f[key] = value
		}
	}
	set(report.Driver, strings.Trim(h.AMDDriver+" "+h.NVIDIADriver, " "))
	set(report.ROCm, h.ROCm)
	set(report.CUDA, h.CUDA)
	set(report.GPUModel, distinct(h.GPUs, func(g GPU) string { return g.Model }))
	set(report.GPUPowerCap, distinct(h.GPUs, func(g GPU) string { return g.PowerCapW }))
	f[report.GPUCount] = strconv.Itoa(len(h.GPUs))
	return f
}

// fingerprint adds to the host's what belongs to one cell: the engine, the recipe's fields, the client.
func fingerprint(c *recipe.Cell, trials []*trial) report.Fingerprint {
	f := report.Fingerprint{report.Client: c.Serve.Client, report.RecipeDigest: c.Digest()}
	for _, t := range trials {
		if t.facts.SHA256 != "" {
			f[report.EngineDigest] = "sha256:" + t.facts.SHA256
		}
	}
	return f
}

// distinct joins the different values in sorted order.
func distinct(gpus []GPU, of func(GPU) string) string {
	var out []string
	for _, g := range gpus {
		if v := of(g); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// field finds the value of the first "name : value" line.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// setting finds the value of the first line that begins with prefix.
func setting(text, prefix string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstMatch(pattern *regexp.Regexp, text string) string {
	if m := pattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
