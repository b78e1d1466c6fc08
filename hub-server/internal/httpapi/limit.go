package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Limiter is a set of token buckets. Safe for concurrent use.
type Limiter interface {
	// Take takes one token from the bucket of key, which holds burst tokens and gets perSecond new ones. It returns 0, or how long to
	// wait when there is none.
	Take(ctx context.Context, key string, perSecond float64, burst int) (time.Duration, error)
}

// Rate is a limit: so many at once, and so many per minute in the long run. The zero value means the default of its place.
type Rate struct {
	Burst     int
	PerMinute float64
}

// Limits are the rates of a hub.
type Limits struct {
	Person      Rate // requests of one user, all devices together
	Edge        Rate // requests of one edge
	Login       Rate // attempts to log in, register or enrol, per address
	LoginName   Rate // attempts to log in, per user name
	Refresh     Rate // refreshes of tokens, per address
	Socket      Rate // upgrades, per address
	Search      Rate // searches of one user
	Invite      Rate // asking others to be friends and bringing them into conversations, per user
	Unsolicited Rate // everything else without a credential, per address
}

// withDefaults is generous to people and tight where passwords are tried.
func (l Limits) withDefaults() Limits {
	for place, rate := range map[*Rate]Rate{
		&l.Person:      {Burst: 300, PerMinute: 3000},
		&l.Edge:        {Burst: 1000, PerMinute: 12000},
		&l.Login:       {Burst: 30, PerMinute: 20},
		&l.LoginName:   {Burst: 20, PerMinute: 20},
		&l.Refresh:     {Burst: 200, PerMinute: 120},
		&l.Socket:      {Burst: 120, PerMinute: 120},
		&l.Search:      {Burst: 30, PerMinute: 120},
		&l.Invite:      {Burst: 60, PerMinute: 60},
		&l.Unsolicited: {Burst: 120, PerMinute: 600},
	} {
		if *place == (Rate{}) {
			*place = rate
		}
	}
	return l
}

// tooMany is the refusal of a caller who comes too often; the answer says when to come again.
type tooMany struct {
	*fault.Fault
	wait time.Duration
}

func (t *tooMany) Unwrap() error { return t.Fault }

// seconds is the value of Retry-After, at least 1.
func (t *tooMany) seconds() int { return max(1, int(math.Ceil(t.wait.Seconds()))) }

// take takes a token for what kind of request, of whom.
func take(ctx context.Context, l Limiter, kind, who string, r Rate) error {
	wait, err := l.Take(ctx, kind+":"+who, r.PerMinute/60, r.Burst)
	if err != nil {
		return fmt.Errorf("ask rate limiter: %w", err)
	}
	if wait > 0 {
		return &tooMany{fault.New(fault.RateLimited, "Too many requests. Wait for %s and try again.", wait.Round(time.Second)+time.Second), wait}
	}
	return nil
}

// mayInvite takes a token for asking or bringing in other people.
func (h handlers) mayInvite(ctx context.Context, by account.Principal) error {
	err := take(ctx, h.Limiter, "invite", string(by.User), h.Limits.Invite)
	var refused *tooMany
	if errors.As(err, &refused) {
		refused.Fault = fault.New(fault.RateLimited, "You ask or bring in people more often than this hub allows (HUB_INVITES_PER_MINUTE). Wait for %s.",
			refused.wait.Round(time.Second)+time.Second)
	}
	return err
}

// mayBring is mayInvite if others than the caller are among the members.
func (h handlers) mayBring(ctx context.Context, members ...chat.MemberID) error {
	by := caller(ctx)
	for _, m := range members {
		if user, ok := m.User(); ok && user != by.User {
			return h.mayInvite(ctx, by)
		}
	}
	return nil
}

// peer is the address that the connection came from; headers that claim another one are not believed.
func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
