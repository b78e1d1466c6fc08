package httpapi

import (
	"fmt"
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// guard stands in front of every route: it finds out who calls, how often, and whether they may.
type guard struct {
	rules        map[string]rule
	policy       policy
	devices      *account.Devices
	edges        *fleet.Edges
	trusted      trusted
	limiter      Limiter
	limits       Limits
	metricsToken string
	problems     problems
}

// protect wraps the handler of a route. A route without a rule is answered as if it did not exist.
func (g *guard) protect(pattern string, next http.Handler) http.Handler {
	rule, known := g.rules[pattern]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !known {
			g.problems.answer(w, r, notThere())
			return
		}
		if err := g.admit(r, rule); err != nil {
			g.problems.answer(w, r, err)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// admit fills the request's call, or says why the request goes no further.
func (g *guard) admit(r *http.Request, rule rule) (err error) {
	c := callOf(r.Context())
	c.pattern, c.path, c.peer = r.Pattern, r.URL.Path, peer(r)
	if rule.who == upgrade {
		return take(r.Context(), g.limiter, "socket", c.peer, g.limits.Socket)
	}
	if c.browser, err = g.trusted.check(r); err != nil {
		return err
	}
	switch rule.who {
	case anybody:
		return g.admitAnybody(r, c, rule.limit)
	case person:
		return g.admitPerson(r, c, rule.may)
	case machine:
		return g.admitMachine(r, c)
	case scraper:
		return g.admitScraper(r, c)
	}
	return fmt.Errorf("rule of %s names nobody", rule.operation)
}

func (g *guard) admitAnybody(r *http.Request, c *call, l limit) error {
	switch l {
	case loginLimit:
		return take(r.Context(), g.limiter, "login", c.peer, g.limits.Login)
	case refreshLimit:
		return take(r.Context(), g.limiter, "refresh", c.peer, g.limits.Refresh)
	}
	return g.unsolicited(r, c)
}

// admitPerson is charged to the user when there is one, and to the address when there is none: guessing tokens costs as well.
func (g *guard) admitPerson(r *http.Request, c *call, may check) error {
	ctx := r.Context()
	token, err := accessToken(r, c.browser)
	if err == nil {
		c.person, err = g.devices.Authenticate(ctx, token)
	}
	if err != nil {
		return g.refuseStranger(r, c, err)
	}
	if err := take(ctx, g.limiter, "person", string(c.person.User), g.limits.Person); err != nil {
		return err
	}
	if may == nil {
		return nil
	}
	return may(ctx, &g.policy, c.person, r.PathValue)
}

func (g *guard) admitMachine(r *http.Request, c *call) (err error) {
	if c.edge, err = g.edges.Authenticate(r.Context(), bearer(r)); err != nil {
		return g.refuseStranger(r, c, err)
	}
	return take(r.Context(), g.limiter, "edge", string(c.edge.ID), g.limits.Edge)
}

func (g *guard) admitScraper(r *http.Request, c *call) error {
	if mayScrape(r, g.metricsToken) {
		return nil
	}
	return g.refuseStranger(r, c, fault.New(fault.Unauthenticated,
		"Metrics are for HUB_METRICS_TOKEN as bearer, or without one for this machine itself."))
}

// refuseStranger returns why, unless the address has come so often that it hears of that instead.
func (g *guard) refuseStranger(r *http.Request, c *call, why error) error {
	if err := g.unsolicited(r, c); err != nil {
		return err
	}
	return why
}

func (g *guard) unsolicited(r *http.Request, c *call) error {
	return take(r.Context(), g.limiter, "unsolicited", c.peer, g.limits.Unsolicited)
}
