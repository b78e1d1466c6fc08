package up

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
)

const maxTries = 100

// plain refuses what would make the hub speak TLS: what runs here finds it without.
func plain(environ []string) error {
	for _, setting := range environ {
		if name, value, _ := strings.Cut(setting, "="); (name == "HUB_TLS_CERT" || name == "HUB_TLS_KEY") && value != "" {
			return fmt.Errorf("%s is set: this starts a hub for this machine alone, without TLS. Unset it, or start hub-server and edge-server by themselves", name)
		}
	}
	return nil
}

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
