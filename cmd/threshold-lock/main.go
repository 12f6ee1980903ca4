package main

import (
	"os"

	"github.com/gatehouse-ci/gatehouse/pkg/fixture/evidence"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(evidence.Lock)) }
