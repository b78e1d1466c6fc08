package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
	"pgregory.net/rapid"
)

// Prefix and rest are the whole, byte for byte, wherever somebody stopped reading: across restarts of the hub and a change of the rules.
func TestWhatATraceHasToldStays(t *testing.T) {
	chance := chanceOf(t)
	eachRecord(t, func(t *testing.T, r *record) {
		k, random := newTalk(t, r), chance.part(0)
		var told string
		for version := range 6 {
			hub := r.teller(echoes(version))
			k.goOn(t, 1+random.IntN(30), random)
			trace := opened(t, hub, k.session)
			all := whole(t, hub, trace.ID, 0, 1+random.IntN(1<<12))
			if got := card.Seq(strings.Count(all, "\n")); got != trace.Head || !strings.HasPrefix(all, told) {
				t.Fatalf("the trace has %d frames, its head is %d; before it said\n%s\nand now\n%s", got, trace.Head, told, all)
			}
			if rest := all[len(told):]; strings.Count(rest, "\n") != strings.Count(rest, fmt.Sprintf(",%d,\"", version)) {
				t.Fatalf("not told by rules %d:\n%s", version, rest)
			}
			again := r.teller(echoes(version))
			for range 20 {
				after := card.Seq(random.IntN(int(trace.Head) + 1))
				if rest := whole(t, again, trace.ID, after, 1+random.IntN(1<<12)); rest != lineAfter(all, after) {
					t.Fatalf("behind %d of\n%s\ncomes\n%s", after, all, rest)
				}
			}
			told = all
		}
		if got, want := card.Seq(strings.Count(told, "\n")), echoed(k.head(t)); got != want {
			t.Errorf("%d frames were told of %d places, want %d", got, k.head(t), want)
		}
	})
}

// However many hubs tell a trace at once, it is told once.
func TestSeveralHubsTellOneTrace(t *testing.T) {
	chance := chanceOf(t)
	eachRecord(t, func(t *testing.T, r *record) {
		k, random := newTalk(t, r), chance.part(0)
		hubs := make([]*cardlog.Logs, 4)
		for i := range hubs {
			other := *r
			if r.store.dialect.advisory {
				other.writer = startWriter(t, r.store)
			}
			hubs[i] = other.teller(echoes(1))
		}
		for range 8 {
			k.goOn(t, 10, random)
			traces := make([]cardlog.Trace, len(hubs))
			errs := together(len(hubs), func(i int) (err error) {
				traces[i], err = hubs[i].Open(t.Context(), k.session)
				return err
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			all := whole(t, hubs[0], traces[0].ID, 0, 1<<20)
			for i, hub := range hubs {
				if got := whole(t, hub, traces[i].ID, 0, 1<<20); traces[i] != traces[0] || got != all {
					t.Fatalf("one hub has %+v\n%s\nand another one %+v\n%s", traces[0], all, traces[i], got)
				}
			}
		}
	})
}

func TestWatchersReadWhatWasCommittedAndNobodyElseWaits(t *testing.T) {
	chance := chanceOf(t)
	eachRecord(t, func(t *testing.T, r *record) {
		k, random := newTalk(t, r), chance.part(0)
		hub := r.teller(echoes(1))
		one, other := hub.Watch(k.session), hub.Watch(k.session)
		defer other.Close()
		trace := opened(t, hub, k.session)
		var told string
		for range 10 {
			k.goOn(t, 5, random)
			rows, err := r.store.Rows(t.Context(), 0, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			hub.Seen(rows)
			soon(t, one.Ready())
			soon(t, other.Ready())
			told += whole(t, hub, trace.ID, card.Seq(strings.Count(told, "\n")), 1+random.IntN(1<<10))
		}
		one.Close()
		if again := whole(t, r.teller(echoes(1)), trace.ID, 0, 1<<20); again != told {
			t.Errorf("watchers read\n%s\nstored is\n%s", told, again)
		}
		k.goOn(t, 10, random) // without a signal nobody looks
		if again := whole(t, hub, trace.ID, 0, 1<<20); again != told {
			t.Errorf("without a signal: %s", again)
		}
	})
}

func TestATraceBeginsAnewWithAnotherLifeOfTheStore(t *testing.T) {
	chance := chanceOf(t)
	eachRecord(t, func(t *testing.T, r *record) {
		k := newTalk(t, r)
		k.goOn(t, 20, chance.part(0))
		hub := r.teller(echoes(1))
		watcher := hub.Watch(k.session)
		defer watcher.Close()
		before := opened(t, hub, k.session)
		all := whole(t, hub, before.ID, 0, 1<<20)
		if _, err := r.store.RemakeEpoch(t.Context()); err != nil {
			t.Fatal(err)
		}
		k.goOn(t, 5, chance.part(1))
		after := opened(t, hub, k.session)
		if _, err := hub.Read(t.Context(), before.ID, 0, 1<<20); after.ID == before.ID || !errors.Is(err, cardlog.ErrUnknown) {
			t.Errorf("%s goes on as %s, %v", before.ID, after.ID, err)
		}
		again := strings.ReplaceAll(whole(t, hub, after.ID, 0, 1<<20), string(after.ID), string(before.ID))
		if !strings.HasPrefix(again, all) || len(again) == len(all) {
			t.Errorf("before\n%s\nnow\n%s", all, again)
		}
		for _, table := range []string{"card_traces", "card_frames", "card_prompts"} {
			if n := r.count(t, fmt.Sprintf(`SELECT COUNT(*) FROM %s WHERE trace_id = '%s'`, table, before.ID)); n > 0 {
				t.Errorf("%d rows of %s are of the trace of before", n, table)
			}
		}
	})
}

func TestReadsOfTracesThatAreNotThere(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		hub, k := r.teller(echoes(1)), newTalk(t, r)
		if _, err := hub.Open(t.Context(), id.NewSession()); !errors.Is(err, cardlog.ErrUnknown) {
			t.Errorf("a conversation that is not there: %v", err)
		}
		if _, err := hub.Trace(t.Context(), id.NewTrace()); !errors.Is(err, cardlog.ErrUnknown) {
			t.Errorf("any trace: %v", err)
		}
		if _, err := hub.Read(t.Context(), id.NewTrace(), 0, 1); !errors.Is(err, cardlog.ErrUnknown) {
			t.Errorf("frames of any trace: %v", err)
		}
		trace := opened(t, hub, k.session)
		for _, after := range []card.Seq{0, 5, toTheEnd} {
			if frames, err := hub.Read(t.Context(), trace.ID, after, 1); err != nil || len(frames) > 0 {
				t.Errorf("an empty trace has %v behind %d, %v", frames, after, err)
			}
		}
		if err := hub.CatchUp(t.Context(), r.conversation(t)); err != nil || r.count(t, `SELECT COUNT(*) FROM card_traces`) != 1 {
			t.Errorf("catching up makes traces, %v", err)
		}
	})
}

const toTheEnd = card.Seq(1) << 62

// Any order of things that a hub does and suffers gives the trace that one hub would have told at a time.
func TestATraceIsToldOnceWhateverBefalls(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		rapid.Check(t, func(rt *rapid.T) {
			k, chance := newTalk(t, r), chance{rapid.Uint64Min(1).Draw(rt, "seed")}
			random := chance.part(0)
			hubs := []*cardlog.Logs{r.teller(echoes(1)), r.teller(echoes(1))}
			trace := opened(t, hubs[0], k.session)
			var told string
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				hub := rapid.IntRange(0, 1).Draw(rt, "hub")
				switch rapid.SampledFrom([]string{"talk", "open", "restart", "crash", "read"}).Draw(rt, "step") {
				case "talk":
					k.goOn(t, rapid.IntRange(1, 8).Draw(rt, "things"), random)
				case "open":
					opened(t, hubs[hub], k.session)
				case "restart":
					hubs[hub] = r.teller(echoes(1))
				case "crash": // in the middle of telling: the caller goes, and the hub with it
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					hubs[hub].Open(ctx, k.session) //nolint:errcheck // whatever became of it
					hubs[hub] = r.teller(echoes(1))
				case "read":
					told += whole(t, hubs[hub], trace.ID, card.Seq(strings.Count(told, "\n")), 100)
				}
			}
			opened(t, hubs[0], k.session)
			all := whole(t, hubs[1], trace.ID, 0, 1<<20)
			if !strings.HasPrefix(all, told) {
				rt.Fatalf("read\n%s\nstored\n%s", told, all)
			}
			want := &echo{Rules: 1, Trace: trace.ID}
			var fresh strings.Builder
			for after := int64(0); ; {
				page, err := NewCards(r.store, r.writer).Facts(t.Context(), k.session, after, cardlog.Page{Facts: 3, Bytes: 100})
				if err != nil {
					rt.Fatal(err)
				}
				for _, f := range page.Facts {
					for _, frame := range want.Apply(f) {
						fresh.Write(frame.Bytes)
					}
				}
				if after = page.UpTo; after == page.Head {
					break
				}
			}
			if all != fresh.String() {
				rt.Fatalf("stored\n%s\na fresh projection\n%s", all, fresh.String())
			}
		})
	})
}
