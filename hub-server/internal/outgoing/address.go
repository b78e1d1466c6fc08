package outgoing

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// ErrForbidden means that an address is not one that people may have the hub speak to.
var ErrForbidden = errors.New("the hub does not speak to this address")

var (
	// globalUnicast is all of IPv6 that is handed out to the Internet.
	globalUnicast = netip.MustParsePrefix("2000::/3")
	// special are blocks of public space that lead elsewhere: to this host, this network, nowhere, or to an IPv4 address inside.
	special = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
		"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	)
)

func prefixes(all ...string) (list []netip.Prefix) {
	for _, p := range all {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

// public says whether an address belongs to the Internet at large. An IPv4 address in the form of IPv6 is judged as what it is.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Allowed are private addresses that an operator lets the hub speak to, each for one port or for all.
type Allowed []allowance

type allowance struct {
	prefix netip.Prefix
	port   uint16 // 0: all
}

// ParseAllowed reads a list of networks (192.168.7.0/24), addresses (10.0.0.5) and addresses with a port (10.0.0.5:8090, [fd00::5]:8090).
// There are no names in it: what a name leads to is for others to say.
func ParseAllowed(list []string) (all Allowed, err error) {
	for _, text := range list {
		one, err := parseAllowance(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%q is no network, address or address with a port: names are not taken", text)
		}
		all = append(all, one)
	}
	return all, nil
}

func parseAllowance(text string) (allowance, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return allowance{prefix: p.Masked()}, nil
	}
	if a, err := netip.ParseAddrPort(text); err == nil {
		addr := a.Addr().Unmap()
		return allowance{netip.PrefixFrom(addr, addr.BitLen()), a.Port()}, nil
	}
	a, err := netip.ParseAddr(text)
	a = a.Unmap()
	return allowance{prefix: netip.PrefixFrom(a, a.BitLen())}, err
}

func (l Allowed) has(a netip.AddrPort) bool {
	for _, one := range l {
		if one.prefix.Contains(a.Addr().Unmap()) && (one.port == 0 || one.port == a.Port()) {
			return true
		}
	}
	return false
}

// check judges the address of a connection that is about to be made. In the clear the hub speaks only to what the operator has named.
func (l Allowed) check(hostport string, plain bool) error {
	a, err := netip.ParseAddrPort(hostport)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %v", ErrForbidden, err)
	case l.has(a):
		return nil
	case plain:
		return fmt.Errorf("%w: %s is to be reached over https", ErrForbidden, a)
	case !public(a.Addr()):
		return fmt.Errorf("%w: %s is not on the Internet", ErrForbidden, a)
	}
	return nil
}
