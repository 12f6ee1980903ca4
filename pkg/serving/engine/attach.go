package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// attachDriver uses an engine that somebody else started.
type attachDriver struct{}

func (attachDriver) Check(spec Spec) error {
	errs := []error{checkURL("base_url", spec.BaseURL)}
	if spec.ControlURL != "" {
		errs = append(errs, checkURL("control_url", spec.ControlURL))
	}
	return errors.Join(errs...)
}

func (d attachDriver) Start(_ context.Context, spec Spec) (Engine, error) {
	if err := d.Check(spec); err != nil {
		return nil, &Failure{Reason: SetupFailed, Message: err.Error(), Hint: "driver attach needs the URL of a running engine"}
	}
	return &attached{at: Endpoint{Gateway: spec.BaseURL, Control: spec.ControlURL}}, nil
}

// attached is an engine that is not ours: it is never stopped, has no log, and when it ends its requests tell.
type attached struct{ at Endpoint }

func (a *attached) Endpoint() Endpoint                        { return a.at }
func (a *attached) Done() <-chan struct{}                     { return nil }
func (a *attached) Exit() string                              { return "" }
func (a *attached) Tail() string                              { return "" }
func (a *attached) Log() string                               { return "" }
func (a *attached) Stop(context.Context, time.Duration) error { return nil }

func (a *attached) Facts() Facts {
	return Facts{Driver: "attach", Port: portOf(a.at.Gateway), ControlPort: portOf(a.at.Control)}
}

func checkURL(field, raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return fmt.Errorf("%s: %q is no URL of an engine, such as http://127.0.0.1:8000", field, raw)
	}
	return nil
}

func portOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}
