package loadgen

import (
	"context"
	"errors"
)

// Run performs one step. Its error is a *PlanError for a plan that cannot be run, or ctx's error together with the
// partial Result when ctx ended; a failing engine is no error, it is failed requests.
func Run(ctx context.Context, p Plan) (*Result, error) {
	return nil, errors.New("not built yet")
}
