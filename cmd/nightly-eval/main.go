// Nightly-eval runs the nightly matrix, judges every cell against its baseline, writes the results.
package main

import (
	"os"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(night.Run)) }
