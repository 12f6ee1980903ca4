package engine

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// ports holds two ports by listening on them, so that neither this nor another run picks them meanwhile. They are let go
// just before the engine starts; what takes one in between is found as a collision, and the start is tried again.
type ports struct {
	gateway, control int
	held             []net.Listener
}

// holdPorts holds the gateway and the control port; 0 means any free one, and the control port prefers gateway+1.
func holdPorts(gateway, control int) (*ports, error) {
	const candidates = 20
	p := &ports{}
	for range candidates {
		first, err := p.hold(gateway)
		if err != nil {
			return nil, errors.Join(err, p.free())
		}
		second, err := p.holdControl(first, control)
		if err == nil {
			p.gateway, p.control = first, second
			return p, nil
		}
		if control != 0 || gateway != 0 {
			return nil, errors.Join(err, p.free())
		}
	}
	return nil, errors.Join(errors.New("no two free ports on 127.0.0.1"), p.free())
}

func (p *ports) holdControl(gateway, control int) (int, error) {
	if control != 0 {
		return p.hold(control)
	}
	if gateway < 65535 {
		if port, err := p.hold(gateway + 1); err == nil {
			return port, nil
		}
	}
	return p.hold(0)
}

func (p *ports) hold(port int) (int, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return 0, fmt.Errorf("port %d on 127.0.0.1 is taken: %w", port, err)
		}
		return 0, fmt.Errorf("holding port %d on 127.0.0.1: %w", port, err)
	}
	p.held = append(p.held, l)
	return l.Addr().(*net.TCPAddr).Port, nil
}

// free lets go of every held port.
func (p *ports) free() error {
	var err error
	for _, l := range p.held {
		err = errors.Join(err, l.Close())
	}
	p.held = nil
	return err
}
