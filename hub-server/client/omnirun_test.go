package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// ran is what a Run yields, and its error.
func ran(ctx context.Context, s *OmniSession, options ...RunOption) (lines []string, failed error) {
	for m, err := range s.Run(ctx, TextTask("List the files."), options...) {
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(m.Bytes()))
	}
	return lines, nil
}

func wantLines(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// speak has a run say so many things in fragments, with pauses.
func (h *omniHub) speak(run string, times int, pause time.Duration) {
	for i := range times {
		text := fmt.Sprintf("word %d", i)
		h.say(omni.PartialText(omni.Start, ""), omni.PartialText(omni.Delta, text))
		time.Sleep(pause)
		h.say(omni.PartialText(omni.Stop, ""), omni.AssistantText(text), omni.RequestEnd(omni.Completed, omni.RetryDetail{}))
		time.Sleep(pause)
	}
	h.end(run)
}

func TestARunTellsWhatIsSaidFromItsTaskToItsEnd(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		h.say(omni.UserText("before"))
		h.accepted = func(run string) { go h.speak(run, 3, time.Second) }
		lines, err := ran(t.Context(), h.session())
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, lines, h.told(1))
		if got := h.sent("POST /tasks"); !slices.Equal(got, []string{`{"input":[{"type":"text","text":"List the files."}]}`}) {
			t.Errorf("sent %q", got)
		}
	})
}

// A run may be over before anybody has looked: the state that is read behind the task says so.
func TestARunThatIsOverAtOnceEnds(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		h.accepted = func(run string) { h.speak(run, 1, 0) }
		lines, err := ran(t.Context(), h.session())
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, lines, h.told(0))
	})
}

// A run that waits for its edge is in no state of the stream: only the hub knows that it is not over.
func TestARunThatHasNotBegunIsWaitedFor(t *testing.T) {
	for _, begins := range []bool{true, false} { // or it is cancelled before
		inOmniBubble(t, func(t *testing.T, h *omniHub) {
			h.lazy = true
			h.accepted = func(run string) {
				go func() {
					h.say(omni.UserText("List the files."))
					time.Sleep(10 * time.Minute)
					if begins {
						h.change(func() { h.runs = append(h.runs, run) })
						h.speak(run, 2, time.Second)
					} else {
						h.say(omni.Abort("user"))
						h.end(run)
					}
				}()
			}
			lines, err := ran(t.Context(), h.session())
			if err != nil {
				t.Fatal(err)
			}
			wantLines(t, lines, h.told(0))
			if n := len(h.sent("GET ")); n > 30 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func TestEachMessageIsToldOnceOverAThousandCuts(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		random := rand.New(rand.NewPCG(1, 2))
		h.budget = func() int { return random.IntN(700) } // an event has up to about 450 bytes, so each gets through at last
		h.accepted = func(run string) { go h.speak(run, 400, time.Second) }
		var cursors []string
		lines, err := ran(t.Context(), h.session(), WithUpdates(func(u OmniUpdate) {
			if u.Message != nil && u.Cursor != "" {
				cursors = append(cursors, u.Cursor)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, lines, h.told(0))
		if len(h.streams) < 1000 {
			t.Errorf("only %d connections", len(h.streams))
		}
		if len(cursors) != 800 || cursors[799] != h.cursor(800) {
			t.Errorf("%d cursors", len(cursors))
		}
	})
}

// A program that has crashed comes again with its key and the cursor that it has kept: the run is the same, and it is told from there.
func TestARunIsGoneOnWithByItsKey(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		h.accepted = func(run string) { go h.speak(run, 5, time.Second) }
		var lines []string
		cursor := ""
		for m, err := range h.session().Run(t.Context(), TextTask("x"), WithKey("k-1"), WithUpdates(func(u OmniUpdate) {
			if u.Cursor != "" {
				cursor = u.Cursor
			}
		})) {
			if err != nil {
				t.Fatal(err)
			}
			if lines = append(lines, string(m.Bytes())); cursor == h.cursor(4) {
				break
			}
		}
		if got := h.sent("POST /abort"); got != nil {
			t.Error("to leave the loop has stopped the run")
		}
		more, err := ran(t.Context(), h.session(), WithKey("k-1"), From(cursor))
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, append(lines, more...), h.told(0))
		if len(h.tasks) != 1 {
			t.Errorf("%d tasks", len(h.tasks))
		}
	})
}

func TestATaskIsGivenOnceToAHubThatIsBusy(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		times := 0
		h.refuse["POST /tasks"] = func() (int, string) {
			if times++; times < 3 {
				return 503, "unavailable"
			}
			return 0, ""
		}
		h.accepted = func(run string) { go h.speak(run, 1, time.Second) }
		if _, err := ran(t.Context(), h.session()); err != nil {
			t.Fatal(err)
		}
		if len(h.tasks) != 1 || times != 3 {
			t.Errorf("%d tasks, asked %d times", len(h.tasks), times)
		}
	})
}

func TestRefusalsEndARun(t *testing.T) {
	for key, refusal := range map[string]struct {
		status int
		code   string
	}{"POST /tasks": {409, "task_in_progress"}, "GET /stream": {404, "not_found"}} {
		t.Run(refusal.code, func(t *testing.T) {
			inOmniBubble(t, func(t *testing.T, h *omniHub) {
				h.refuse[key] = func() (int, string) { return refusal.status, refusal.code }
				lines, err := ran(t.Context(), h.session())
				if CodeOf(err) != ProblemCode(refusal.code) || lines != nil {
					t.Errorf("%q, %v", lines, err)
				}
			})
		})
	}
}

func TestTheEndOfTheContextEndsARunsLoop(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		h.accepted = func(string) { h.say(omni.UserText("x")) }
		lines, err := ran(ctx, h.session())
		if len(lines) != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q, %v", lines, err)
		}
	})
}

// A connection without a sign of life is given up after 45 s; one with pings is not.
func TestASilentConnectionIsGivenUp(t *testing.T) {
	for _, pings := range []bool{true, false} {
		t.Run(fmt.Sprint(pings), func(t *testing.T) {
			inOmniBubble(t, func(t *testing.T, h *omniHub) {
				h.pings = pings
				h.accepted = func(run string) {
					go func() {
						time.Sleep(10 * time.Minute)
						h.speak(run, 1, 0)
					}()
				}
				var down atomic.Int32
				lines, err := ran(t.Context(), h.session(), WithUpdates(func(u OmniUpdate) {
					if u.Link == LinkDown {
						if down.Add(1); !errors.Is(u.Err, errSilent) {
							t.Errorf("down: %v", u.Err)
						}
					}
				}))
				if err != nil {
					t.Fatal(err)
				}
				wantLines(t, lines, h.told(0))
				if (down.Load() == 0) != pings {
					t.Errorf("%d connections were given up", down.Load())
				}
			})
		})
	}
}

// What is not kept any more is passed over: what is kept is told from history, and the run goes on.
func TestARunGoesOnBehindWhatIsNotKept(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		for i := range 7 {
			h.say(omni.UserText(fmt.Sprint(i)), omni.PartialText(omni.Start, ""))
		}
		h.floor = 3
		h.accepted = func(run string) {
			go func() {
				time.Sleep(time.Minute)
				h.speak(run, 2, time.Second)
			}()
		}
		lines, err := ran(t.Context(), h.session(), From(h.cursor(1)))
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.DeleteFunc(h.told(3)[:8], func(line string) bool { return strings.Contains(line, "partial_") })
		wantLines(t, lines, append(kept, h.told(7)...))
	})
}

func TestARestoredHubEndsARun(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		h.accepted = func(string) {}
		_, err := ran(t.Context(), h.session(), From("ffffffff-7"))
		var resync *ResyncError
		if !errors.As(err, &resync) || resync.Reason != ResyncEpoch || !strings.Contains(err.Error(), "read the messages again") {
			t.Errorf("%v", err)
		}
	})
}
