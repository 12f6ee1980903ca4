package main

import (
	"os"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/enginesim"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(enginesim.Run)) }
