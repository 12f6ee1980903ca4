package night

import (
	"os"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// Build says what was tested. Versions of Python packages stay null: they can be known only by asking
// the interpreter that runs the entry.
type Build struct {
	AMDAortaVersion *string `json:"amd_aorta_version"`
	Torch           *string `json:"torch"`
	HIP             *string `json:"hip"`
	ROCm            *string `json:"rocm"`
	UpstreamRunID   *string `json:"upstream_run_id"`
	HeadSHA         *string `json:"head_sha"`
	WheelFile       *string `json:"wheel_file"`
	// Lane is "gate" unless the workflow names another, such as "canary".
	Lane      string  `json:"lane"`
	BaseImage *string `json:"base_image"`
}

// rocmVersions hold the version of an installed ROCm; the first with text wins.
var rocmVersions = []string{"/opt/rocm/.info/version", "/opt/rocm/.info/version-dev"}

func readBuild(getenv func(string) string, versions []string) Build {
	b := Build{
		ROCm:          firstText(versions),
		UpstreamRunID: text(getenv("UPSTREAM_RUN_ID")),
		HeadSHA:       text(getenv("UPSTREAM_HEAD_SHA")),
		WheelFile:     text(getenv("WHEEL_FILE")),
		Lane:          getenv("AORTA_CI_LANE"),
		BaseImage:     text(getenv("AORTA_CI_BASE_IMAGE")),
	}
	if b.Lane == "" {
		b.Lane = "gate"
	}
	return b
}

// stack is what the build adds to every cell's fingerprint.
func (b Build) stack() report.Fingerprint {
	f := report.Fingerprint{}
	if b.BaseImage != nil {
		f[report.BaseImageDigest] = *b.BaseImage
	}
	if b.ROCm != nil {
		f[report.ROCm] = *b.ROCm
	}
	return f
}

func firstText(paths []string) *string {
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if v := text(strings.TrimSpace(string(content))); err == nil && v != nil {
			return v
		}
	}
	return nil
}

// text is nil for the empty text.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
