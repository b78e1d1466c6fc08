package presence

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// told is what friends make of what a roll says.
type told struct {
	online  map[id.User]bool
	version int64
}

func (w *told) hear(t *rapid.T, news []Standing) {
	for _, s := range news {
		if w.online[s.User] == s.Online {
			t.Fatalf("%s is told twice to be online: %v", s.User, s.Online)
		}
		if s.Version <= w.version {
			t.Fatalf("version %d after %d", s.Version, w.version)
		}
		w.online[s.User], w.version = s.Online, s.Version
	}
}

// Whoever is present is online at once; whoever is absent is offline when the grace is over, counted from the first call that saw it, and not before. The
// wall clock may do what it likes.
func TestWhoLeavesIsOfflineAfterTheGraceAndWhoIsThereIsOnlineAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grace := time.Duration(rapid.IntRange(0, 5).Draw(t, "grace")) * time.Second
		people := []id.User{"user_a", "user_b", "user_c"}
		roll, world := NewRoll(grace), told{online: map[id.User]bool{}}
		now, missed := time.Unix(1_800_000_000, 0), map[id.User]time.Time{}
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			present := map[id.User]struct{}{}
			for _, u := range people {
				if rapid.Bool().Draw(t, "present") {
					present[u] = struct{}{}
				}
			}
			news, next := roll.Call(present, now)
			world.hear(t, news)
			due := time.Time{}
			for _, u := range people {
				if _, there := present[u]; there {
					delete(missed, u)
					if !world.online[u] {
						t.Fatalf("%s is present and not online", u)
					}
					continue
				}
				if _, known := missed[u]; !known {
					missed[u] = now
				}
				if over := now.Sub(missed[u]) >= grace; over && world.online[u] {
					t.Fatalf("%s has been gone for %s of %s and is online", u, now.Sub(missed[u]), grace)
				} else if !over && world.online[u] && (due.IsZero() || missed[u].Add(grace).Before(due)) {
					due = missed[u].Add(grace)
				}
			}
			if !next.Equal(due) {
				t.Fatalf("wants to be called at %s, want %s", next, due)
			}
			for _, u := range people {
				if roll.Standing(u).Online != world.online[u] {
					t.Fatalf("%s stands as %+v, told %v", u, roll.Standing(u), world.online[u])
				}
			}
		}
	})
}

func TestAReconnectWithinTheGraceIsToldToNobody(t *testing.T) {
	roll, now := NewRoll(15*time.Second), time.Unix(1_800_000_000, 0)
	there, nobody := map[id.User]struct{}{"user_a": {}}, map[id.User]struct{}{}
	steps := []struct {
		after   time.Duration
		present map[id.User]struct{}
		news    int
	}{{0, there, 1}, {time.Hour, nobody, 0}, {14 * time.Second, there, 0}, {time.Second, nobody, 0}, {14 * time.Second, nobody, 0}, {time.Second, nobody, 1}, {time.Hour, nobody, 0}}
	for i, s := range steps {
		now = now.Add(s.after)
		if news, _ := roll.Call(s.present, now); len(news) != s.news {
			t.Errorf("step %d: news %+v, want %d", i, news, s.news)
		}
	}
}

// A process that was stopped for an hour has not seen anybody to be away for an hour.
func TestAnAbsenceIsCountedFromWhenItIsSeen(t *testing.T) {
	roll, now := NewRoll(15*time.Second), time.Unix(1_800_000_000, 0)
	roll.Call(map[id.User]struct{}{"user_a": {}}, now)
	now = now.Add(time.Hour)
	if news, next := roll.Call(nil, now); len(news) != 0 || !next.Equal(now.Add(15*time.Second)) {
		t.Errorf("news %+v, next %s", news, next)
	}
}

func TestVersionsGrowThoughTheClockIsPutBack(t *testing.T) {
	roll, now := NewRoll(0), time.Unix(1_800_000_000, 0)
	first, _ := roll.Call(map[id.User]struct{}{"user_a": {}}, now)
	second, _ := roll.Call(nil, now.Add(-time.Hour))
	if len(first) != 1 || len(second) != 1 || second[0].Version <= first[0].Version {
		t.Errorf("first %+v, second %+v", first, second)
	}
}

func TestAConnectionMoreOrLessIsNoChangeOfAPerson(t *testing.T) {
	h := NewHeld()
	h.Arrived("user_a")
	_, before := h.People()
	h.Arrived("user_a")
	h.Departed("user_a")
	if people, number := h.People(); number != before || len(people) != 1 || h.Number() != number {
		t.Errorf("people %v, number %d, before %d", people, number, before)
	}
	if came, went := h.Moves(); len(came) != 1 || len(went) != 0 {
		t.Errorf("came %v, went %v", came, went)
	}
	h.Departed("user_a")
	if came, went := h.Moves(); len(came) != 0 || len(went) != 1 || h.Number() == before {
		t.Errorf("came %v, went %v, number %d", came, went, h.Number())
	}
}
