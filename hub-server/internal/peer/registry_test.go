package peer

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// list is a Store in memory.
type list struct {
	mu    sync.Mutex
	beats map[ID]int64
	fail  error
}

func (l *list) Announce(_ context.Context, id ID, _ time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail == nil {
		l.beats[id]++
	}
	return l.fail
}

func (l *list) Peers(context.Context) (peers []Peer, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, beat := range l.beats {
		peers = append(peers, Peer{ID: id, Beat: beat})
	}
	return peers, l.fail
}

func (l *list) Forget(_ context.Context, p Peer) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := l.beats[p.ID] == p.Beat
	if same {
		delete(l.beats, p.ID)
	}
	return same, l.fail
}

func (l *list) Leave(_ context.Context, id ID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.beats, id)
	return nil
}

func (l *list) ids() []ID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.beats))
}

// run lets a process live until the returned function is called.
func run(t *testing.T, l *list, me ID) (stop func()) {
	t.Helper()
	r := NewRegistry(l, me, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	<-r.Ready()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestAHubThatStopsIsOffTheListAtOnceAndOneThatDiesOnceItWasMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &list{beats: map[ID]int64{"dead": 7}}
		stopA, stopB := run(t, l, "a"), run(t, l, "b")
		time.Sleep(silence - beatEvery)
		if got := l.ids(); !slices.Equal(got, []ID{"a", "b", "dead"}) {
			t.Errorf("before the silence is over: %v", got)
		}
		stopB()
		if got := l.ids(); !slices.Equal(got, []ID{"a", "dead"}) {
			t.Errorf("after one has stopped: %v", got)
		}
		time.Sleep(3 * beatEvery)
		if got := l.ids(); !slices.Equal(got, []ID{"a"}) {
			t.Errorf("after the silence: %v", got)
		}
		time.Sleep(10 * silence)
		if got := l.ids(); !slices.Equal(got, []ID{"a"}) {
			t.Errorf("the only one left: %v", got)
		}
		stopA()
	})
}

func TestAHubThatCannotAnnounceItselfDoesNotStart(t *testing.T) {
	failure := errors.New("newer")
	err := NewRegistry(&list{fail: failure}, "a", slog.New(slog.DiscardHandler)).Run(t.Context())
	if !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
}

// Who was frozen has not observed anything meanwhile.
func TestAFrozenObserverBeginsAnew(t *testing.T) {
	r := NewRegistry(nil, "me", slog.New(slog.DiscardHandler))
	other := []Peer{{ID: "other", Beat: 3}}
	at := time.Now()
	for _, step := range []struct {
		later time.Duration
		beat  int64
		gone  bool
	}{
		{0, 3, false}, {beatEvery, 3, false}, {time.Hour, 3, false}, {beatEvery, 3, false}, // the hour counts for nothing
		{beatEvery + jump, 3, false}, {beatEvery + jump, 3, false}, {beatEvery + jump, 3, false}, {beatEvery + jump, 4, false}, // it has moved
		{beatEvery + jump, 4, false}, {beatEvery + jump, 4, false}, {beatEvery + jump, 4, false}, {beatEvery + jump, 4, false},
		{beatEvery + jump, 4, true},
	} {
		at = at.Add(step.later)
		other[0].Beat = step.beat
		if gone := len(r.observe(other, at)) > 0; gone != step.gone {
			t.Errorf("%+v: gone is %v", step, gone)
		}
	}
}

// A hub without a bus to others says once that it is not alone. What a dead one has left on the list is no company.
func TestAHubWithoutABusWarnsOfAnotherThatLives(t *testing.T) {
	var said strings.Builder
	r := NewRegistry(nil, "me", slog.New(slog.NewTextHandler(&said, nil)))
	r.Alone = true
	at := time.Now()
	for beat := range int64(4) {
		r.observe([]Peer{{ID: "dead", Beat: 7}, {ID: "alive", Beat: beat}}, at.Add(time.Duration(beat)*beatEvery))
	}
	if strings.Count(said.String(), "HUB_NATS_URL") != 1 || !strings.Contains(said.String(), "hub=alive") {
		t.Errorf("said %q", said.String())
	}
}
