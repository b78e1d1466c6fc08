package up

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

const maxTries = 100

// choosePorts takes the addresses that were asked for, or the next free ones.
func (s *state) choosePorts() error {
	var err error
	if s.hubAddr, err = s.free("hub", s.HubAddr, ""); err != nil {
		return err
	}
	if s.edgeAddr, err = s.free("edge", s.EdgeAddr, s.hubAddr); err != nil {
		return err
	}
	s.hubURL = "http://" + dialable(s.hubAddr)
	s.record.Hub, s.record.Edge = s.hubURL, "http://"+dialable(s.edgeAddr)
	return nil
}

// free returns addr, or the same with the next port that nobody listens on. Port 0 means any. taken is an address that is as good as in use.
func (s *state) free(who, addr, taken string) (string, error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("address of the %s: want host:port: %w", who, err)
	}
	first, err := strconv.Atoi(text)
	if err != nil || first < 0 || first > 65535 {
		return "", fmt.Errorf("address of the %s: %q is no port", who, text)
	}
	for port := first; port < first+maxTries && port <= 65535; port++ {
		try := net.JoinHostPort(host, strconv.Itoa(port))
		listener, err := net.Listen("tcp", try) //nolint:noctx // nothing to wait for
		switch {
		case errors.Is(err, syscall.EADDRINUSE) || (err == nil && try == taken):
			if err == nil {
				listener.Close()
			}
			continue
		case err != nil:
			return "", fmt.Errorf("address of the %s: %w", who, err)
		}
		try = listener.Addr().String()
		listener.Close()
		if first != 0 && port != first {
			s.progress("port %d is in use, so the %s takes %d", first, who, port)
		}
		return try, nil
	}
	return "", fmt.Errorf("address of the %s: the %d ports from %s on are in use; give another one", who, maxTries, addr)
}

// dialable is the address by which this machine reaches a listener.
func dialable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || (ip != nil && ip.IsUnspecified())) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
