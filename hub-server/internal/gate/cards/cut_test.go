package cards

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// `make faults` cuts 10,000 times.
var (
	cuts = flag.Int("cuts", 500, "how often a client of cards is cut off at a random byte and resumes")
	seed = flag.Uint64("seed", 0, "where it is cut off, and what agents say meanwhile; 0: something new, which is printed")
)

const (
	travellers = 4   // that follow one conversation, each cut off by itself
	cutsOfOne  = 50  // for each of them in one conversation
	farBehind  = 100 // frames that a traveller may lack before agents wait for it
)

// Clients are cut off at random bytes and resume, at whichever hub answers, while agents go on and hubs are restarted: the forest of each is in the
// end that of a client that was never cut, and what a fresh projection of the log makes.
func TestCutAtAnyByteAgainAndAgainAForestIsThatOfAFreshProjection(t *testing.T) {
	chosen := *seed
	if chosen == 0 {
		chosen = uint64(time.Now().UnixNano())
	}
	t.Logf("again with: go test ./internal/gate/cards -run TestCutAtAnyByte -cuts %d -seed %d", *cuts, chosen)
	var total, told atomic.Int64
	t.Run("conversations", func(t *testing.T) {
		for i, left := 0, *cuts; left > 0; i++ {
			address, some := migratedFile, min(left, travellers*cutsOfOne)
			if i%5 == 1 {
				address, some = migratedPostgres, min(left, travellers*cutsOfOne/5)
			}
			left -= some
			t.Run(fmt.Sprint(i+1), func(t *testing.T) {
				t.Parallel()
				j := newJourney(newTown(t, address(t)), chosen+uint64(i))
				j.play(some / travellers)
				j.compare()
				total.Add(int64(j.cuts()))
				told.Add(int64(j.head))
			})
		}
	})
	t.Logf("figure: cards: %d cuts at random bytes, %d events told (SEED=%d)", total.Load(), told.Load(), chosen)
	if int(total.Load()) < *cuts/travellers*travellers {
		t.Errorf("cut %d times, want %d", total.Load(), *cuts)
	}
}

// journey is a conversation that goes on while its travellers lose their connections.
type journey struct {
	*author
	trace      cardlog.Trace
	inns       atomic.Pointer[[]*hub] // that serve travellers
	travellers []*traveller
	moved      chan struct{} // a traveller has heard something
	head       card.Seq
	leaving    *hub            // serves those who are there, and nobody else
	live       context.Context // ends when head is the last that ever comes
	settled    context.CancelFunc
}

// traveller is a client that is on the move.
type traveller struct {
	journey *journey
	random  *rand.Rand
	line    *line
	feed    *sdk.CardFeed
	at      atomic.Int64 // the newest event that it has
	arrived atomic.Bool
}

func newJourney(w *town, seed uint64) *journey {
	w.t.Helper()
	j := &journey{author: newAuthor(w, seed), moved: make(chan struct{}, 1)}
	j.live, j.settled = context.WithCancel(context.WithoutCancel(w.t.Context()))
	w.t.Cleanup(j.settled)
	j.inns.Store(&[]*hub{w.hub(), w.hub()})
	var err error
	j.trace, err = j.hub.Traces.Open(w.t.Context(), j.session)
	j.must(err)
	for i := range travellers {
		j.travellers = append(j.travellers, j.traveller(rand.New(rand.NewPCG(seed, uint64(2+i)))))
	}
	return j
}

func (j *journey) traveller(random *rand.Rand) *traveller {
	hubs := func() (all []string) {
		for _, h := range *j.inns.Load() {
			all = append(all, h.server.Listener.Addr().String())
		}
		return all
	}
	w := &traveller{journey: j, random: random, line: &line{random: rand.New(rand.NewPCG(random.Uint64(), 0)), hubs: hubs}}
	j.must(w.open(nil))
	return w
}

// open starts the program: with the forest that it has kept, if it has.
func (w *traveller) open(forest *sdk.CardForest) error {
	c, err := sdk.New(sdk.Options{Hub: "http://cards.example", Transport: w.line.transport(), Keeper: sdk.NewMemoryKeeper(sdk.Credentials{
		AccessToken: string(w.journey.ada.token), RefreshToken: "refresh", ExpiresAt: time.Now().Add(24 * time.Hour),
	})})
	if err != nil {
		return err
	}
	w.feed = c.Cards(sdk.CardOptions{Session: sdk.SessionID(w.journey.session), Forest: forest, Attempts: -1})
	return nil
}

func (j *journey) cuts() (all int) {
	for _, w := range j.travellers {
		all += w.line.broken()
	}
	return all
}

// play has agents write until every traveller was cut off so many times and has heard everything.
func (j *journey) play(cuts int) {
	j.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(j.t.Context()))
	defer cancel()
	back := make(chan error, len(j.travellers))
	for _, w := range j.travellers {
		go func() { back <- w.travel(ctx, cuts) }()
	}
	for left := len(j.travellers); left > 0; {
		var err error
		if j.goOn(cuts) {
			select {
			case err = <-back:
				left--
			default:
			}
		} else {
			select {
			case err = <-back:
				left--
			case <-j.moved:
			case <-time.After(wait):
				j.t.Fatalf("nobody hears anything: the trace is at %d, the slowest at %d", j.head, j.slowest())
			}
		}
		if err != nil {
			j.t.Fatal(err)
		}
	}
}

// goOn has something happen; false if somebody is far behind, or nothing comes any more.
func (j *journey) goOn(cuts int) bool {
	j.t.Helper()
	if j.live.Err() == nil && j.cuts() >= cuts*len(j.travellers) {
		j.finish()
		j.measure()
		j.settled()
	}
	if j.live.Err() != nil || int64(j.head)-j.slowest() > farBehind {
		return false
	}
	j.write()
	if j.random.IntN(4) == 0 {
		j.measure()
	}
	if j.random.IntN(25) == 0 {
		j.restart()
	}
	return true
}

// measure has this hub tell the trace too, besides those that serve travellers.
func (j *journey) measure() {
	j.t.Helper()
	trace, err := j.hub.Traces.Open(j.t.Context(), j.session)
	j.must(err)
	j.head = trace.Head
}

func (j *journey) slowest() int64 {
	least := int64(j.head)
	for _, w := range j.travellers {
		if !w.arrived.Load() {
			least = min(least, w.at.Load())
		}
	}
	return least
}

// restart puts another hub into the place of one, which stops before that, or when the next one is replaced.
func (j *journey) restart() {
	j.t.Helper()
	if j.leaving != nil {
		j.leaving.stop()
	}
	inns := slices.Clone(*j.inns.Load())
	i := j.random.IntN(len(inns))
	if j.leaving = inns[i]; j.random.IntN(2) == 0 {
		j.leaving.stop()
	}
	inns[i] = j.town.hub()
	j.inns.Store(&inns)
}

// travel follows, cut off again and again, until it has everything.
func (w *traveller) travel(ctx context.Context, cuts int) error {
	defer w.arrived.Store(true)
	defer w.move()
	for ctx.Err() == nil {
		if w.line.frail(); w.line.broken() >= cuts {
			w.line.sound()
		}
		if w.random.IntN(10) == 0 {
			if err := w.open(w.feed.Forest()); err != nil {
				return err
			}
		}
		if err := w.follow(ctx); err != nil || w.complete() {
			return err
		}
	}
	return ctx.Err()
}

// complete says whether it has everything that will ever come.
func (w *traveller) complete() bool {
	return w.journey.live.Err() != nil && w.feed.Forest().Last() == w.journey.head
}

// follow takes what one connection brings. At times the program ends by itself, with something at hand that it has not looked at.
func (w *traveller) follow(ctx context.Context) error {
	most := 1 << 30
	if w.random.IntN(10) == 0 {
		most = w.random.IntN(20)
	}
	life := w.journey.live
	if life.Err() != nil {
		life = ctx
	}
	for u, err := range w.feed.Follow(life) {
		switch {
		case life.Err() != nil:
			return nil
		case err != nil:
			return err
		case u.Failed != nil:
			return fmt.Errorf("the hub refuses something: %+v", u.Failed)
		}
		w.at.Store(int64(w.feed.Forest().Last()))
		w.move()
		if most--; u.Link == sdk.LinkDown || most < 0 || w.complete() {
			return nil
		}
	}
	return nil
}

func (w *traveller) move() {
	select {
	case w.journey.moved <- struct{}{}:
	default:
	}
}

// compare holds the forests of all travellers against that of a client that was never cut, and against a fresh projection of the log.
func (j *journey) compare() {
	j.t.Helper()
	stored, told := j.stored(j.trace), j.project()
	for i := range min(len(stored), len(told)) {
		if stored[i] != told[i] {
			j.t.Fatalf("event %d is stored as\n%s\nand is now told as\n%s", i+1, stored[i], told[i])
		}
	}
	if len(stored) != len(told) || len(stored) != int(j.head) {
		j.t.Fatalf("%d events are stored, %d are told now, want %d", len(stored), len(told), j.head)
	}
	want := j.forest(told, nil)
	fresh := j.traveller(rand.New(rand.NewPCG(1, 1)))
	j.must(fresh.travel(j.t.Context(), 0))
	for i, w := range append(j.travellers, fresh) {
		if !j.same(w.feed.Forest(), want) {
			j.t.Errorf("the forest of traveller %d is another one, up to %d of %d:\n%s\nwant\n%s", i+1, w.at.Load(), j.head, tree(w.feed.Forest()), tree(want))
		}
	}
	appends := 0
	first := func(e card.Event) bool {
		if e.Type == card.Append {
			appends++
		}
		return appends == 1 && e.Type == card.Append
	}
	if j.same(j.forest(told, first), want) {
		j.t.Error("positive control: nobody notices that an append was lost")
	}
}

// forest is what events make of a forest, without the content of those that are lost.
func (j *journey) forest(lines []string, lost func(card.Event) bool) *sdk.CardForest {
	j.t.Helper()
	f := sdk.NewCardForest()
	for _, line := range lines {
		e, err := card.Decode([]byte(line))
		j.must(err)
		if lost != nil && lost(e) {
			e.Type = "card.lost"
		}
		f.Apply(e)
	}
	return f
}

// project makes the trace anew of all that is in the log, and goes on from a checkpoint now and then.
func (j *journey) project() (lines []string) {
	j.t.Helper()
	record := sqlstore.NewCards(j.store, j.writer)
	fold := cards.New(j.trace.ID, j.session, card.English)
	for at := int64(0); ; {
		page, err := record.Facts(j.t.Context(), j.session, at, cardlog.Page{Facts: 1000, Bytes: 1 << 20})
		j.must(err)
		for _, f := range page.Facts {
			for _, frame := range fold.Apply(f) {
				lines = append(lines, string(frame.Bytes))
			}
			if f.Place%8 > 0 {
				continue
			}
			if fold, err = cards.Restore(fold.Encode()); err != nil {
				j.t.Fatalf("after place %d, %s of %s: %v", f.Place, f.Event, f.Run.ID, err)
			}
		}
		if at = page.UpTo; at >= page.Head {
			return lines
		}
	}
}

// same says whether two forests have the same digest, and the same cards below the same ones.
func (j *journey) same(a, b *sdk.CardForest) bool {
	j.t.Helper()
	one, err := a.Digest()
	j.must(err)
	other, err := b.Digest()
	j.must(err)
	return one == other && tree(a) == tree(b)
}

// tree draws a forest: who stands below whom, and how each card is.
func tree(f *sdk.CardForest) string {
	var b strings.Builder
	var draw func(depth int, cards []*sdk.Card)
	draw = func(depth int, cards []*sdk.Card) {
		for _, c := range cards {
			fmt.Fprintf(&b, "%*s%s %s %s %d %q\n", 2*depth, "", c.Kind, c.ID, c.Status, c.Events, c.Text(card.TextChannel))
			draw(depth+1, f.Below(c.ID))
		}
	}
	draw(0, f.Roots())
	for _, p := range f.Prompts() {
		fmt.Fprintf(&b, "%s %v\n", p.RequestID, p.Reply)
	}
	return b.String()
}
