package localapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Origin is a browser page's, exactly as browsers write it: scheme://host[:port].
type Origin string

// ParseOrigin accepts a scheme and a host, and nothing behind them.
func ParseOrigin(s string) (Origin, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || s != u.Scheme+"://"+u.Host {
		return "", fmt.Errorf("%.200q is not scheme://host", s)
	}
	return Origin(strings.ToLower(s)), nil
}

// refusePages refuses requests of browser pages that the edge does not trust.
func refusePages(trusted []Origin, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkOrigin(r, trusted); err != nil {
			refuse(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkOrigin compares whole origins, scheme and port included. A program that is no browser sends none.
func checkOrigin(r *http.Request, trusted []Origin) error {
	sent := r.Header.Values("Origin")
	if len(sent) == 0 {
		return nil
	}
	for _, o := range trusted {
		if len(sent) == 1 && strings.ToLower(sent[0]) == string(o) {
			return nil
		}
	}
	return fault.New(fault.OriginRefused, "This page may not use the edge. Its origin is not among those that the edge trusts (EDGE_ORIGINS).")
}
