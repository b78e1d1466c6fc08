package presence

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

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const grace = 15 * time.Second

// hub is a watch with all around it in memory.
type hub struct {
	t *testing.T
	*Watch
	held *Held

	mu      sync.Mutex
	far     map[id.User]struct{} // connected elsewhere
	friends map[Pair]bool
	broken  bool
	heard   []string
}

// present, FriendsOf and AreFriends stand for the other hubs and the store.
func (h *hub) present() map[id.User]struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := maps.Clone(h.far)
	here, _ := h.held.People()
	for _, u := range here {
		all[u] = struct{}{}
	}
	return all
}

type crowd struct {
	*Held
	hub *hub
}

func (c crowd) Present() map[id.User]struct{} { return c.hub.present() }

func (h *hub) FriendsOf(_ context.Context, u id.User) (found []id.User, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.friends {
		if p.A == u {
			found = append(found, p.B)
		} else if p.B == u {
			found = append(found, p.A)
		}
	}
	if h.broken {
		return nil, errors.New("no store")
	}
	return found, nil
}

func (h *hub) AreFriends(_ context.Context, a, b id.User) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken {
		return false, errors.New("no store")
	}
	return h.friends[PairOf(a, b)], nil
}

func (h *hub) hear(to []id.User, s Standing) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, u := range to {
		h.heard = append(h.heard, string(u)+" hears "+string(s.User)+map[bool]string{true: " came", false: " went"}[s.Online])
	}
}

func (h *hub) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// wants compares what was told since the last time.
func (h *hub) wants(told ...string) {
	h.t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.heard)
	if !slices.Equal(h.heard, told) {
		h.t.Errorf("told %q, want %q", h.heard, told)
	}
	h.heard = nil
}

// play runs a test with a hub at which ada and bob are friends and eve is nobody's.
func play(t *testing.T, test func(h *hub)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &hub{t: t, held: NewHeld(), far: map[id.User]struct{}{}, friends: map[Pair]bool{PairOf("ada", "bob"): true}}
		h.Watch = NewWatch(Config{
			Crowd: crowd{h.held, h}, Friends: h, Tell: h.hear, Grace: grace, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("test"),
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		test(h)
	})
}

// after lets time pass.
func after(d time.Duration) { <-time.After(d) }

func TestFriendsAreToldOfTheFirstConnectionAndOfTheEndOfTheLast(t *testing.T) {
	play(t, func(h *hub) {
		h.Arrived("ada")
		after(lookEvery)
		h.wants("bob hears ada came")
		h.Arrived("ada")
		h.Departed("ada")
		after(time.Minute)
		h.wants()
		h.Departed("ada")
		after(grace - lookEvery)
		h.wants()
		after(2 * lookEvery)
		h.wants("bob hears ada went")
		h.Arrived("eve")
		after(time.Minute)
		h.wants()
	})
}

func TestAPersonWhoMovesToAnotherHubIsOnlineAllTheWhile(t *testing.T) {
	play(t, func(h *hub) {
		h.Arrived("ada")
		after(lookEvery)
		h.wants("bob hears ada came")
		h.Departed("ada")
		after(grace / 2)
		h.change(func() { h.far["ada"] = struct{}{} })
		after(time.Hour)
		h.wants()
		h.change(func() { delete(h.far, "ada") })
		after(grace + 2*lookEvery)
		h.wants("bob hears ada went")
	})
}

func TestAStoreThatDoesNotAnswerDelaysWhatIsToldToWhatIsTrueThen(t *testing.T) {
	play(t, func(h *hub) {
		h.change(func() { h.broken = true })
		h.Arrived("ada")
		h.ContactChanged(PairOf("ada", "bob"))
		after(3 * lookEvery)
		h.wants()
		h.Departed("ada")
		after(2 * grace)
		h.change(func() { h.broken = false })
		after(2 * lookEvery)
		h.wants("bob hears ada went")
	})
}

func TestTheEndOfAFriendshipLooksLikeLeaving(t *testing.T) {
	play(t, func(h *hub) {
		h.Arrived("ada")
		h.Arrived("bob")
		after(lookEvery)
		h.wants("ada hears bob came", "bob hears ada came")
		h.change(func() { clear(h.friends) })
		h.ContactChanged(PairOf("ada", "bob"))
		after(lookEvery)
		h.wants("ada hears bob went", "bob hears ada went")
		h.Departed("ada")
		after(2 * grace)
		h.wants()
		h.ContactChanged(PairOf("ada", "bob"))
		after(lookEvery)
		h.wants("ada hears bob went") // of ada, who is not there, bob hears nothing
		h.change(func() { h.friends[PairOf("ada", "bob")] = true })
		h.ContactChanged(PairOf("bob", "ada"))
		after(lookEvery)
		h.wants("ada hears bob came")
	})
}

func TestANewFriendWhoComesAtThatMomentIsToldOfOnce(t *testing.T) {
	play(t, func(h *hub) {
		after(lookEvery / 2) // between two looks
		h.change(func() { h.friends[PairOf("ada", "eve")] = true })
		h.ContactChanged(PairOf("ada", "eve"))
		after(lookPause / 2)
		h.ContactChanged(PairOf("ada", "eve"))
		h.Arrived("eve")
		after(lookEvery)
		h.wants("ada hears eve came")
	})
}

func TestAHubSaysWhoIsNotThereOnlyWhenItHasBeenThereForAGrace(t *testing.T) {
	play(t, func(h *hub) {
		h.Arrived("bob")
		after(lookEvery)
		early, err := h.Friends(t.Context(), "ada")
		if err != nil || len(early.Online) != 1 || early.Online[0].User != "bob" || early.WholeIn != grace-lookEvery {
			t.Errorf("early %+v, %v", early, err)
		}
		after(grace)
		late, err := h.Friends(t.Context(), "ada")
		if err != nil || late.WholeIn != 0 || len(late.Online) != 1 || late.Online[0] != early.Online[0] {
			t.Errorf("late %+v, %v", late, err)
		}
		if none, err := h.Friends(t.Context(), "eve"); err != nil || none.Online == nil || len(none.Online) != 0 {
			t.Errorf("eve, who has no friends: %+v, %v", none, err)
		}
		h.change(func() { h.broken = true })
		if _, err := h.Friends(t.Context(), "ada"); err == nil || !strings.Contains(err.Error(), "no store") {
			t.Errorf("without a store: %v", err)
		}
	})
}

func TestACrowdOfChangesIsBounded(t *testing.T) {
	w := NewWatch(Config{Crowd: crowd{Held: NewHeld()}, Grace: grace, Metrics: telemetry.NewRegistry("test")})
	for range maxWaiting + 100 {
		w.ContactChanged(PairOf(id.NewUser(), id.NewUser()))
	}
	if len(w.pairs) != maxWaiting {
		t.Errorf("%d pairs wait", len(w.pairs))
	}
}
