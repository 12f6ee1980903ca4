package engine

import (
	"context"
	"errors"
)

// launches is how often a start is tried when another process takes a port between our letting go and the engine's bind.
const launches = 3

// Launch starts an engine and waits until its ports answer. A port collision is tried again with other ports, unless the
// spec fixes them. The engine is given also together with an error when it was started: the caller must Stop it either way.
func Launch(ctx context.Context, d Driver, spec Spec, note func(string)) (Engine, error) {
	for try := 1; ; try++ {
		e, err := d.Start(ctx, spec)
		if err != nil {
			return nil, err
		}
		err = Await(ctx, e, spec, note)
		if err == nil || try == launches || !collision(spec, err) {
			return e, err
		}
		if err := e.Stop(ctx, spec.Grace); err != nil {
			return e, err
		}
	}
}

// collision tells whether other ports may help: the engine said that one was in use, or its control server never came.
func collision(spec Spec, err error) bool {
	var f *Failure
	if !errors.As(err, &f) || spec.BaseURL != "" || (spec.Port != 0 && spec.ControlPort != 0) {
		return false
	}
	return f.Cause == "port_in_use"
}
