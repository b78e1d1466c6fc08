package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func deaf() *delivery.Followers { return delivery.NewFollowers(maxFollowed) }

// A client that is cut off a thousand times while the run goes on has each stored event once, in order.
func TestAThousandCutsLoseAndRepeatNothing(t *testing.T) {
	const cuts, events = 1000, 1200
	p := newPlace(t)
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	said := make(chan struct{})
	go func() {
		defer close(said)
		for i := range events {
			edge.delta(fmt.Sprint(i))
		}
	}()
	t.Cleanup(func() { <-said })
	random := rand.New(rand.NewPCG(4, 2))
	var got []frame
	cut := 0
	for who := p.ada; cut < cuts; cut++ {
		s := who.follow(p.stream())
		for range random.IntN(3) { // sometimes it is cut before anything came
			if len(got) > events {
				break
			}
			got = append(got, s.must())
		}
		s.leave()
		if len(got) > 0 {
			who = p.ada.with("Last-Event-ID", got[len(got)-1].id)
		}
	}
	<-said
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	rest, err := p.ada.with("Last-Event-ID", got[len(got)-1].id).follow(p.stream()).rest()
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, rest...)
	stored, err := p.ada.follow(p.stream()).rest()
	if err != nil || len(stored) != events+2 {
		t.Fatalf("%d events are stored, %v", len(stored), err)
	}
	if len(got) != len(stored) {
		t.Fatalf("after %d cuts the client has %d events, %d are stored", cut, len(got), len(stored))
	}
	for i := range stored {
		if got[i] != stored[i] {
			t.Fatalf("event %d is %+v, stored is %+v", i+1, got[i], stored[i])
		}
	}
}

func TestSEC13AMemberWhoIsRemovedGetsNothingMore(t *testing.T) {
	p := newPlace(t)
	bob := p.bob.login.User.ID
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": bob}).is(201, "")
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now(), WorkDir: workDir})
	s := p.bob.follow(p.stream())
	if first := s.must(); strings.Contains(first.data, workDir) { // R18: it is not his machine
		t.Errorf("bob sees %s", first.data)
	}
	if mine := p.ada.follow(p.stream()).must(); !strings.Contains(mine.data, workDir) {
		t.Errorf("the owner sees %s", mine.data)
	}
	p.ada.delete("/client/sessions/"+p.session+"/members/"+bob).is(204, "")
	edge.delta("among us")
	if rest, err := s.rest(); len(rest) != 0 || err != nil {
		t.Errorf("after the removal came %v, %v", rest, err)
	}
	p.bob.get(p.stream()).is(404, "not_found")
}

// The tail reads a removal and the event behind it at once: that the event is known to be committed must not spare the look at the membership.
func TestSEC13ARemovalCountsThoughTheEventBehindItIsKnownToo(t *testing.T) {
	set := deaf() // told by this test alone
	p := newPlace(t, func(d *httpapi.Deps) { d.Followers = set })
	bob := p.bob.login.User.ID
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": bob}).is(201, "")
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	s := p.bob.follow(p.stream())
	s.must()
	run, session := id.Run(p.task), id.Session(p.session)
	edge.delta("still among us")
	set.Seen([]delivery.Row{{Kind: delivery.KindRun, Run: run, From: 2, To: 2}})
	s.must()
	p.ada.delete("/client/sessions/"+p.session+"/members/"+bob).is(204, "")
	edge.delta("among us")
	set.Seen([]delivery.Row{
		{Kind: delivery.KindFrame, Session: session, Change: delivery.Left, ChangeUser: id.User(bob)},
		{Kind: delivery.KindRun, Run: run, From: 3, To: 3},
	})
	if rest, err := s.rest(); len(rest) != 0 || err != nil {
		t.Errorf("after the removal came %v, %v", rest, err)
	}
}

func TestP17LogoutEndsAStream(t *testing.T) {
	p := newPlace(t)
	p.reporter().say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	other := p.signedIn(p.anonymous().post("/client/auth/login", credentials("ada", password)).is(200, ""))
	stays, goes := p.ada.follow(p.stream()), other.follow(p.stream())
	stays.must()
	goes.must()
	other.do(http.MethodPost, "/client/auth/logout", nil).is(204, "")
	if rest, err := goes.rest(); len(rest) != 0 || err != nil {
		t.Errorf("after the logout came %v, %v", rest, err)
	}
	p.reporter().delta("one")
	if got := stays.must(); got.id != "2" {
		t.Errorf("the other device got %+v", got)
	}
}

// A login that ended on a hub that could not tell is noticed by the look at it.
func TestAStreamLooksAtTheLoginBehindIt(t *testing.T) {
	p := newPlace(t, func(d *httpapi.Deps) {
		d.Pace.Alive = 10 * time.Millisecond
		d.Followers = deaf()
	})
	p.reporter().say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	s := p.ada.follow(p.stream())
	s.must()
	p.ada.do(http.MethodPost, "/client/auth/logout", nil).is(204, "")
	if rest, err := s.rest(); len(rest) != 0 || err != nil {
		t.Errorf("after the logout came %v, %v", rest, err)
	}
}

func TestAStoppingHubLetsItsStreamsGo(t *testing.T) {
	p := newPlace(t)
	p.reporter().say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	s := p.ada.follow(p.stream())
	s.must()
	p.deps.Followers.Shut()
	if rest, err := s.rest(); len(rest) != 0 || err != nil {
		t.Errorf("%v, %v", rest, err)
	}
	p.ada.get(p.stream()).is(503, "busy")
}

func TestAPersonFollowsABoundedNumberOfRuns(t *testing.T) {
	p := newPlace(t)
	p.reporter().say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	var open []*follower
	for range maxFollowed {
		open = append(open, p.ada.follow(p.stream()))
	}
	p.ada.get(p.stream()).is(429, "rate_limited").sentence("Stop following")
	open[0].leave()
	for p.ada.get(p.stream()+"?after_seq=2").status == 429 { // until the hub has noticed
	}
	p.ada.get(p.stream()+"?after_seq=2").is(422, "cursor_ahead") // there is a place again
}

// A reader that takes nothing is given up, and costs nothing more.
func TestAStuckReaderIsClosed(t *testing.T) {
	p := newPlace(t, func(d *httpapi.Deps) { d.Pace.Write = 50 * time.Millisecond })
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	for range 100 {
		edge.delta(strings.Repeat("x", 100<<10))
	}
	stuck := p.ada.follow(p.stream())
	for !strings.Contains(string(p.anonymous().get("/metrics").body), `http_event_streams_ended_total{why="client takes nothing"} 1`) {
	}
	if _, err := stuck.rest(); err == nil {
		t.Error("the stream of a stuck reader ended as if it were whole")
	}
}

func TestSEC2APageFollowsByItsCookieAndNoOtherPageDoes(t *testing.T) {
	p := newPlace(t)
	p.reporter().say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	cookie := p.anonymous().with("Cookie", "switchyard_session="+p.ada.bearer)
	for _, own := range []*client{cookie.with("Origin", ownOrigin), cookie.with("Sec-Fetch-Site", "same-origin")} {
		if got := own.follow(p.stream()).must(); got.id != "1" {
			t.Errorf("got %+v", got)
		}
	}
	for name, other := range map[string]*client{
		"no word of a page": cookie, "another page": cookie.with("Origin", "https://evil.test"),
		"cross-site": cookie.with("Sec-Fetch-Site", "cross-site"), "sibling": cookie.with("Sec-Fetch-Site", "same-site"),
		"typed address": cookie.with("Sec-Fetch-Site", "none"),
		"liar":          cookie.with("Sec-Fetch-Site", "same-origin").with("Origin", "https://evil.test"),
	} {
		if a := other.get(p.stream()); a.status != 403 || a.code() != "origin_refused" {
			t.Errorf("%s: answered %d %s", name, a.status, a.body)
		}
	}
	cookie.with("Sec-Fetch-Site", "same-origin").post("/client/sessions/group", object{"name": "x"}).is(403, "origin_refused") // only reading
	p.anonymous().get(p.stream()+"?access_token="+p.ada.bearer).is(401, "unauthenticated")
}
