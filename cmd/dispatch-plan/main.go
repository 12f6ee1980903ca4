package main

import (
	"os"

	"github.com/gatehouse-ci/gatehouse/pkg/fixture/dispatch"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(dispatch.Run)) }
