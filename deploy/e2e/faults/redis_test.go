package faults

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// The figures of promise P15.
const (
	redisWipes    = 5
	redisGone     = 1500 * time.Millisecond
	stillAnswered = 2 * time.Second // by a hub whose Redis has just stopped answering
)

// What one address may do with refresh tokens: the limit that is tried.
const (
	refreshBurst     = 200
	refreshPerMinute = 120
)

// P15. Redis is wiped, killed, started empty and paused under load. No run loses anything, no limit opens, no login that has ended is let in again.
func TestLosingRedisLosesNothingAndOpensNoDoor(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	s := newSeveral(t)
	s.work("--events", "80", "--rate", "80")
	s.asker, s.seen = s.Device("asker", s.Proxy.URL()), s.Device("watcher", s.Proxy.URL()).Watch()
	s.untilRedisIs(up)
	lookers := []*rig.Device{s.Device("at the first", s.HubURL()), s.Device("at the second", s.second.URL)}
	shut := s.newDoors()
	wipes := max(redisWipes, effort.Of(redisWipes))
	turns := s.during(3, func() {
		ctx, stop := context.WithCancel(t.Context())
		var knocking sync.WaitGroup
		knocking.Go(func() { shut.knock(ctx) })
		for i := range wipes {
			strikes := s.redisStrikes()
			strikes[i%len(strikes)]()
			s.untilRedisIs(up)
			for _, looker := range lookers {
				s.Eventually("the edge is online", func() bool { return s.seesOnline(looker) })
			}
		}
		stop()
		knocking.Wait()
	})
	ended, events, whole := s.examine(turns)
	if ended[event.RunCompleted] != len(turns) {
		t.Errorf("runs ended as %v", ended)
	}
	s.seen.Check()
	shut.judge()
	figure(t, "P15", "Redis lost %d times, %d runs, %d events; %d of %d requests over a limit let through, %d with an ended login refused, the slowest answer after %s",
		wipes, len(turns), events, shut.let, shut.tried, shut.refused, show(shut.slowest))
	for what, spoil := range spoilers() {
		if whole.spoilt(spoil).examine() == nil {
			t.Errorf("positive control: nobody notices a log with %s", what)
		}
	}
}

// redisStrikes are the ways in which Redis is lost; each is over when it returns.
func (s *several) redisStrikes() []func() {
	return []func(){
		s.redis.Flush,
		func() { s.redis.Kill(); s.untilRedisIs(down); <-time.After(redisGone); s.redis.Launch() },
		func() { s.redis.Pause(); s.untilRedisIs(down); <-time.After(redisGone); s.redis.Resume() },
		func() { s.redis.Kill(); s.redis.Launch() },
	}
}

// doors are two that must stay shut: a limit, and a login that has ended.
type doors struct {
	s      *several
	ended  string // an access token of a login that has ended
	begin  time.Time
	client http.Client

	tried, let, refused int
	slowest             time.Duration
	over                time.Duration // from begin to the last request
}

// newDoors ends a login, uses up a limit at one hub, and sees that it is used up at the other too.
func (s *several) newDoors() *doors {
	s.t.Helper()
	gone := s.connect(s.second.URL)
	login, err := gone.Keeper.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	d := &doors{s: s, ended: login.AccessToken, begin: time.Now(), client: http.Client{Timeout: rig.Patience}}
	if code := d.withToken(s.HubURL()); code != http.StatusOK {
		s.t.Fatalf("positive control: before the login ended, its token is answered with %d", code)
	}
	s.revoke(gone)
	for i := 0; d.refresh(s.HubURL()) != http.StatusTooManyRequests; i++ {
		if i > 2*refreshBurst {
			s.t.Fatal("there is no limit")
		}
	}
	before := d.let
	for range refreshBurst / 2 {
		d.refresh(s.second.URL)
	}
	// New tokens come meanwhile, but not half as many.
	if more := d.let - before; more > refreshBurst/4 {
		s.t.Errorf("a limit that was used up at one hub let through %d of %d at the other", more, refreshBurst/2)
	}
	return d
}

// knock tries both doors at both hubs until ctx ends, and often enough to be refused.
func (d *doors) knock(ctx context.Context) {
	const pause = 2 * time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := 0; ctx.Err() == nil || d.tried < enough*d.perHub(); i++ {
		hub := d.s.hubURLs()[i%2]
		begin := time.Now()
		if d.refresh(hub); i%10 == 0 {
			switch code := d.withToken(hub); code {
			case http.StatusUnauthorized:
				d.refused++
			case http.StatusTooManyRequests: // who has no login has a limit as well
			default:
				d.s.t.Errorf("a login that has ended is answered with %d", code)
			}
		}
		d.slowest = max(d.slowest, time.Since(begin))
		<-tick.C
	}
}

// refresh shows a refresh token that is none.
func (d *doors) refresh(hub string) (code int) {
	const nonsense = `{"refresh_token":"swr_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`
	code = d.do(http.MethodPost, hub+"/client/auth/refresh", nonsense, "")
	if d.tried++; code != http.StatusTooManyRequests {
		d.let++
	}
	d.over = time.Since(d.begin)
	return code
}

func (d *doors) withToken(hub string) (code int) {
	return d.do(http.MethodGet, hub+"/client/devices", "", d.ended)
}

func (d *doors) do(method, url, body, token string) (code int) {
	req, err := http.NewRequestWithContext(d.s.t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		d.s.t.Error(err)
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		d.s.t.Error(err)
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// enough attempts, in terms of what one hub lets through, show that there is a limit.
const enough = 4

// perHub is what one hub may have let through by itself.
func (d *doors) perHub() int { return refreshBurst + int(d.over.Minutes()*refreshPerMinute) + 1 }

// judge compares what was let through with what both hubs may let through by themselves.
func (d *doors) judge() {
	d.s.t.Helper()
	perHub := d.perHub()
	if d.let > 2*perHub {
		d.s.t.Errorf("%d requests of %d were let through in %s, want at most %d at each of two hubs", d.let, d.tried, show(d.over), perHub)
	}
	if d.tried < enough*perHub {
		d.s.t.Errorf("positive control: %d requests are not enough to show that there is a limit of %d at each hub", d.tried, perHub)
	}
	if d.refused == 0 {
		d.s.t.Error("positive control: nobody came with a login that has ended")
	}
	if d.slowest > stillAnswered {
		d.s.t.Errorf("an answer took %s", show(d.slowest))
	}
}
