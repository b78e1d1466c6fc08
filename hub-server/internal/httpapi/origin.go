package httpapi

import (
	"net/http"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// origin is where a browser says that a page came from: scheme://host[:port].
type origin string

// secure says whether the page came over TLS, so that its cookies must, too.
func (o origin) secure() bool { return strings.HasPrefix(string(o), "https://") }

// trusted is the pages that may talk to the hub. The hub's own address counts only if it is listed: a Host header proves nothing.
type trusted map[origin]struct{}

func trust(origins []string) trusted {
	t := trusted{}
	for _, o := range origins {
		t[origin(strings.ToLower(strings.TrimSuffix(o, "/")))] = struct{}{}
	}
	return t
}

// check returns the page that sent the request, "" when none did. A page that is not trusted is refused whatever it shows (SEC1).
func (t trusted) check(r *http.Request) (origin, error) {
	sent := r.Header.Values("Origin")
	if len(sent) == 0 {
		return "", nil
	}
	o := origin(strings.ToLower(sent[0]))
	if _, ok := t[o]; !ok || len(sent) > 1 {
		return "", originRefused()
	}
	return o, nil
}

func originRefused() error {
	return fault.New(fault.OriginRefused, "This page may not use the hub. Its origin is not among those that the hub trusts (HUB_ORIGINS).")
}
