package story

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// A week of two people: more than a socket would replay. Whoever was away and asks page by page, without a socket, ends with the state of the
// device that was there all the time.
func TestADeviceThatWasAwayForAWeekHasTheStateOfOneThatWasThere(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]struct {
		words int
		env   func(*testing.T) []string
	}{
		"SQLite":     {weekMessages, func(*testing.T) []string { return nil }},
		"PostgreSQL": {weekMessages / 8, func(t *testing.T) []string { return []string{"HUB_DATABASE_URL=" + hubtest.Postgres(t)} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			week := newWeek(t, append(on.env(t), "HUB_REQUESTS_PER_MINUTE=1000000"))
			week.live(on.words)
			week.farewell()
			for _, p := range week.people {
				there, away := p.there(), p.away()
				if len(there.Records()) < on.words {
					t.Errorf("%s: only %d records: the week was none", p.device.Name, len(there.Records()))
				}
				compareStates(t, p.device.Name, there, away)
			}
		})
	}
}

const weekMessages = 5200 // of the one conversation; a socket replays 5,000 rows; on the second store there is nothing new in so many

type week struct {
	*rig.Rig
	t      *testing.T
	people [2]*weekling
	home   string // the conversation of both
	groups [4]string
	in     [4]bool // whether the second person is in a group
}

// weekling is a person with a device that is there and one that is away.
type weekling struct {
	device *rig.Device
	id     string
	start  string // both devices have come so far
	there  func() *client.Reducer
	t      *testing.T
}

func newWeek(t *testing.T, env []string) *week {
	w := &week{Rig: rig.New(t, rig.Options{Env: env}), t: t}
	bob, bobID := w.Invite("bob")
	me, err := client.Decode[client.Me](w.Owner().API().GetMe(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	w.people = [2]*weekling{{device: w.Owner(), id: me.User.ID, t: t}, {device: bob, id: bobID, t: t}}
	for _, p := range w.people {
		page, err := client.Decode[client.SyncPage](p.device.API().SyncChanges(t.Context(), &client.SyncChangesParams{}))
		if err != nil {
			t.Fatal(err)
		}
		p.start = page.Cursor
		p.stay()
	}
	w.AddEdge("laptop", map[string]string{"worker": w.TestAgent("--events", "300", "--rate", "300")})
	w.home = w.Owner().Group("home", "worker")
	w.add(w.home)
	for i := range w.groups {
		w.groups[i] = w.Owner().Group(fmt.Sprint("group ", i))
	}
	return w
}

// stay follows over a socket until the farewell.
func (p *weekling) stay() {
	feed := p.device.Feed(client.KeptByCaller(p.start), client.FeedOptions{Begin: client.BeginMissed})
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(done)
		for u, err := range feed.Follow(ctx) {
			if err != nil || isFarewell(u) {
				return
			}
		}
	}()
	p.t.Cleanup(func() { cancel(); <-done })
	p.there = func() *client.Reducer { <-done; return feed.State() }
}

// away asks for all of it at once, and a second time for what cannot be there any more.
func (p *weekling) away() *client.Reducer {
	feed := p.device.Feed(client.KeptByCaller(p.start), client.FeedOptions{Begin: client.BeginMissed})
	for round := range 2 {
		for u, err := range feed.Sync(p.t.Context()) {
			if err != nil {
				p.t.Fatal(err)
			}
			if u.Snapshot || round == 1 && u.New {
				p.t.Errorf("round %d: %+v", round, u.Frame)
			}
		}
	}
	return feed.State()
}

const goodbye = "that was the week"

func isFarewell(u client.Update) bool {
	if u.Frame == nil || u.Frame.Type != client.HubWebSocketFrameTypeMessageNew {
		return false
	}
	m, err := client.PayloadOf[client.Message](*u.Frame)
	return err == nil && client.BubbleOf(m).Text == goodbye
}

func (w *week) farewell() { w.Owner().Send(w.home, goodbye) }

// live is what happens: many words, a run, and people who come, read, and go.
func (w *week) live(words int) {
	run := w.Owner().Run(w.home, "@worker go")
	var talkers sync.WaitGroup
	for i := range 8 {
		talkers.Go(func() {
			for n := range words / 8 {
				w.people[i%2].device.Send(w.home, fmt.Sprintf("word %d of %d", n, i))
			}
		})
	}
	random := rand.New(rand.NewPCG(7, 7))
	for n := range 250 {
		w.act(random.IntN(len(w.groups)), random.IntN(4), n)
	}
	talkers.Wait()
	w.Owner().UntilState(run, client.RunStateCompleted)
}

func (w *week) act(group, what, n int) {
	session := w.groups[group]
	switch {
	case what == 0 && w.in[group]:
		w.must(w.Owner().API().RemoveMember(w.t.Context(), session, w.people[1].id))
		w.in[group] = false
	case what == 0:
		w.add(session)
		w.in[group] = true
	case what == 1:
		w.must(w.Owner().API().MarkRead(w.t.Context(), w.home, client.ReadMarkInput{LastReadSeq: int64(n)}))
	case what == 2 && w.in[group]:
		w.people[1].device.Send(session, fmt.Sprint("bob ", n))
	default:
		w.Owner().Send(session, fmt.Sprint("ada ", n))
	}
}

func (w *week) must(answer *http.Response, err error) {
	w.t.Helper()
	if _, err := client.Decode[client.Nothing](answer, err); err != nil {
		w.t.Fatal(err)
	}
}

func (w *week) add(session string) {
	w.t.Helper()
	key := &client.AddMemberParams{IdempotencyKey: uuid.NewString()}
	w.must(w.Owner().API().AddMember(w.t.Context(), session, key, client.MemberInput{MemberID: w.people[1].id}))
}

// compareStates compares what two devices made of it. What was said in a conversation that its user has left is not given any more to whoever was
// away, so that does not count.
func compareStates(t *testing.T, who string, there, away *client.Reducer) {
	t.Helper()
	mine := map[string]bool{}
	for _, s := range there.Sessions() {
		mine[s.SessionID] = true
	}
	a, b := recordsOf(there, mine), recordsOf(away, mine)
	for key, value := range a {
		if b[key] != value {
			t.Errorf("%s: %s is\n%s there,\n%s away", who, key, value, b[key])
			break
		}
	}
	for key, value := range b {
		if _, ok := a[key]; !ok {
			t.Errorf("%s: %s is away only:\n%s", who, key, value)
		}
	}
	if m, n := marksOf(there, mine), marksOf(away, mine); !maps.Equal(m, n) || len(m) == 0 {
		t.Errorf("%s: marks %v there, %v away", who, m, n)
	}
}

func recordsOf(r *client.Reducer, mine map[string]bool) map[string]string {
	found := map[string]string{}
	for key, raw := range r.Records() {
		var of struct {
			Session string `json:"session_id"`
		}
		if strings.HasPrefix(key, "presence ") || json.Unmarshal(raw, &of) == nil && of.Session != "" && !mine[of.Session] {
			continue
		}
		value, err := event.Canonical(raw) // one may come from the socket, one from REST
		if err != nil {
			value = fmt.Append(nil, err)
		}
		found[key] = string(value)
	}
	return found
}

func marksOf(r *client.Reducer, mine map[string]bool) map[string]int64 {
	marks := r.Marks()
	maps.DeleteFunc(marks, func(key string, _ int64) bool {
		session, ok := strings.CutPrefix(key, "read ")
		session, _, _ = strings.Cut(session, "/")
		return ok && !mine[session]
	})
	return marks
}
