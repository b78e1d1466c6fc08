package outgoing

import (
	"errors"
	"net/netip"
	"testing"
)

func TestOnlyTheInternetIsPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "159.203.148.75": true, "2606:4700:4700::1111": true, "2a00:1450:4001:82a::200e": true, "::ffff:1.1.1.1": true,

		"127.0.0.1": false, "127.8.9.1": false, "0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "172.16.0.1": false, "172.31.255.255": false,
		"192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "100.100.100.200": false, "192.0.0.192": false, "192.0.2.1": false,
		"198.18.0.1": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "239.1.2.3": false, "240.0.0.1": false, "255.255.255.255": false,

		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false, "fec0::1": false,
		"::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "::ffff:10.0.0.1": false, "::ffff:7f00:1": false, "::127.0.0.1": false,
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2002:a9fe:a9fe::": false, "2001::1": false,
		"2001:db8::1": false, "3fff::1": false, "4000::1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is public: %v, want %v", address, got, want)
		}
	}
}

func TestAllowancesAreForExactlyWhatTheySay(t *testing.T) {
	allowed, err := ParseAllowed([]string{"192.168.7.0/24", "10.0.0.5", "10.0.0.6:8090", "[fd00::5]:8090", "::ffff:10.0.0.7"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"192.168.7.1:1": true, "192.168.7.255:80": true, "192.168.8.1:80": false, "10.0.0.5:1": true, "10.0.0.4:1": false, "10.0.0.6:8090": true,
		"10.0.0.6:8091": false, "[fd00::5]:8090": true, "[fd00::5]:80": false, "[::ffff:10.0.0.5]:443": true, "10.0.0.7:80": true,
		"169.254.169.254:80": false, "127.0.0.1:8090": false, "no address": false,
	} {
		for _, plain := range []bool{false, true} {
			err := allowed.check(address, plain)
			if (err == nil) != want || err != nil && !errors.Is(err, ErrForbidden) {
				t.Errorf("%s (in the clear: %v): %v, want allowed: %v", address, plain, err, want)
			}
		}
	}
	if err := allowed.check("1.1.1.1:443", false); err != nil {
		t.Errorf("the Internet over TLS: %v", err)
	}
	if err := allowed.check("1.1.1.1:80", true); !errors.Is(err, ErrForbidden) {
		t.Errorf("the Internet in the clear: %v", err)
	}
	for _, bad := range []string{"", "localhost", "10.0.0.0/33", "10.0.0.5:x", "ntfy.lan:80", "10.0.0.5:80:1"} {
		if _, err := ParseAllowed([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
