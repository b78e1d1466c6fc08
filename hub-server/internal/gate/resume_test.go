package gate

import (
	"flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// The figures of promises P8 and P9. `make faults` plays 2,000 and 1,000.
var (
	resumes    = flag.Int("resumes", 200, "how often a client is cut off at a random frame and resumes")
	lostFrames = flag.Int("lost", 200, "how many frames are lost on the way")
	seed       = flag.Uint64("seed", 0, "at which frames a client is cut off (P8); 0: something new, which is printed")
)

// chosenSeed is the seed that the flag gives, or a new one.
func chosenSeed() uint64 {
	if *seed == 0 {
		return uint64(time.Now().UnixNano())
	}
	return *seed
}

func TestTheFirstFrameSaysWhereTheClientStands(t *testing.T) {
	h := newWorld(t).hub(nil)
	token, who := h.world.login(id.NewUser())
	h.world.commit(note(delivery.ToUser(who.User), 1))
	c := h.dial(token, "")
	got := c.greeted()
	want := authOKPayload{
		Resume: delivery.Fresh, Cursor: delivery.NewCursor(h.world.store.Epoch(), 1), Epoch: h.world.store.Epoch(),
		Connection: got.Connection, Heartbeat: 20,
	}
	if !reflect.DeepEqual(got, want) || got.Connection == "" {
		t.Errorf("auth.ok is %+v, want %+v", got, want)
	}
	h.world.commit(note(delivery.ToUser(who.User), 2))
	if n := c.note(); n != 2 {
		t.Errorf("got note %d, want 2: a fresh client has fetched 1", n)
	}
}

func TestABadCursorIsAnsweredWithAResetAndALiveConnection(t *testing.T) {
	h := newWorld(t).hub(nil)
	token, who := h.world.login(id.NewUser())
	h.world.commit(note(delivery.ToUser(who.User), 1))
	for cursor, want := range map[string]delivery.Reason{
		"garbage": delivery.CursorInvalid,
		string(delivery.NewCursor("feedfeedfeedfeed", 1)):    delivery.OtherEpoch,
		string(delivery.NewCursor(h.world.store.Epoch(), 9)): delivery.CursorAhead,
	} {
		c := h.dial(token, cursor)
		got := c.greeted()
		if got.Resume != delivery.Reset || got.Reason != want || got.Message == "" {
			t.Errorf("cursor %q: %+v, want a reset because of %s", cursor, got, want)
		}
		c.cut()
	}
}

// A client is cut off at random frames while rows keep coming, and resumes by the last cursor it saw: it ends up with every row once,
// in order (P8).
func TestResumeReplaysExactlyWhatWasMissed(t *testing.T) {
	chosen := chosenSeed()
	t.Logf("again with: go test ./internal/gate -run TestResumeReplays -resumes %d -seed %d", *resumes, chosen)
	got, resumed := resumeAgainAndAgain(t, chosen, *resumes, func(read []int) []int { return read })
	if want := numbers(*resumes * notesPerResume); !slices.Equal(got, want) {
		t.Errorf("got %d notes, not each of %d once and in order: %v", len(got), len(want), got)
	}
	t.Logf("figure: P8: %d notes over %d resumes (SEED=%d)", len(got), resumed, chosen)
	if resumed < *resumes {
		t.Errorf("resumed %d times, want %d at least", resumed, *resumes)
	}
}

// The positive control of the test above: a client that keeps the cursor of a frame which it has not kept is seen to miss it.
func TestAClientThatIsAheadOfItselfIsSeenToMissFrames(t *testing.T) {
	const some = 20
	got, _ := resumeAgainAndAgain(t, chosenSeed(), some, func(read []int) []int { return read[:len(read)-1] })
	if slices.Equal(got, numbers(some*notesPerResume)) {
		t.Error("nobody notices that frames are missing: the test of this promise proves nothing")
	}
}

// notesPerResume is how many notes are committed per resume that is asked for; a client reads fewer of them on average before it is cut off.
const notesPerResume = 10

// resumeAgainAndAgain cuts a client off about so many times, at frames that follow from the seed, and returns what it has kept of the notes that it has read, and how often it has
// resumed. keep is given what was read on one connection.
func resumeAgainAndAgain(t *testing.T, seed uint64, times int, keep func(read []int) []int) (got []int, resumed int) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t)
	hubs := []*hub{w.hub(nil), w.hub(nil)}
	token, who := w.login(id.NewUser())
	c := hubs[0].dial(token, "")
	c.greeted()
	rows := times * notesPerResume
	const group, ahead = 5, 1000 // rows of a commit; rows that may be committed before they are read: who is much further behind gets a reset
	turn := make(chan struct{}, ahead/group)
	committed := make(chan struct{})
	go func() {
		defer close(committed)
		for n := 0; n < rows; n += group {
			select {
			case turn <- struct{}{}:
			case <-t.Context().Done():
				return
			}
			var next []delivery.Row
			for i := range group {
				next = append(next, note(delivery.ToUser(who.User), n+i))
			}
			w.commit(next...)
		}
	}()
	for left := rows; left > 0; resumed++ {
		var read []int
		for range min(left, 1+random.IntN(notesPerResume+4)) {
			read = append(read, c.note())
			if left--; left%group == 0 {
				<-turn
			}
		}
		got = append(got, keep(read)...)
		c.cut()
		c = hubs[resumed%2].dial(token, c.cursor)
		if answer := c.greeted(); answer.Resume != delivery.Replayed {
			t.Fatalf("with %d notes to come: %+v", left, answer)
		}
	}
	<-committed
	return got, resumed
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// A client that knows nothing of cursors gets everything too: from the last frame that it has surely received.
func TestResumeByDeviceLosesNothing(t *testing.T) {
	h := newWorld(t).hub(nil)
	token, who := h.world.login(id.NewUser())
	committed, acked := 0, 0 // notes
	for round := range 4 {
		c := h.dial(token, "")
		if answer := c.greeted(); round > 0 && answer.Resume != delivery.Replayed {
			t.Fatalf("a known device got %+v", answer)
		}
		for range 10 {
			committed++
			h.world.commit(note(delivery.ToUser(who.User), committed))
		}
		for n := acked + 1; n <= committed; n++ {
			if got := c.note(); got != n {
				t.Fatalf("round %d: got note %d, want %d", round, got, n)
			}
		}
		if round%2 == 0 { // else it is cut off before it could acknowledge
			c.socket.CloseRead(t.Context())
			waitForMark(t, h, who, delivery.Position(committed))
			acked = committed
		}
		c.cut()
	}
}

// waitForMark returns when pongs have moved the device's mark to p.
func waitForMark(t *testing.T, h *hub, who account.Principal, p delivery.Position) {
	t.Helper()
	for again := time.Tick(5 * time.Millisecond); ; <-again {
		mark, _, err := h.Marks.Last(t.Context(), who.User, who.Device)
		if err != nil {
			t.Fatal(err)
		}
		if mark.Position >= p {
			return
		}
	}
}

func TestAForeignCursorOpensNothing(t *testing.T) {
	h := newWorld(t).hub(nil)
	mine, me := h.world.login(id.NewUser())
	theirs, other := h.world.login(id.NewUser())
	session := id.NewSession()
	h.world.commit(member(session, me.User, delivery.Joined))
	first := h.dial(mine, "")
	cursor := string(first.greeted().Cursor)
	h.world.commit(note(delivery.ToUser(me.User), 1), note(delivery.ToSession(session), 2), note(delivery.ToUser(other.User), 3))
	c := h.dial(theirs, cursor)
	c.greeted()
	if n := c.note(); n != 3 {
		t.Errorf("with the cursor of somebody else a client got note %d, want its own 3", n)
	}
}

func TestARemovedMemberGetsNothingMore(t *testing.T) {
	h := newWorld(t).hub(nil)
	token, who := h.world.login(id.NewUser())
	session := id.NewSession()
	c := h.dial(token, "")
	before := string(c.greeted().Cursor)
	h.world.commit(member(session, who.User, delivery.Joined), note(delivery.ToSession(session), 1))
	if f := c.next(); f.Type != SessionMemberLeft { // the row that let them in, whatever its name
		t.Fatalf("got %s", f.Type)
	}
	if n := c.note(); n != 1 {
		t.Fatalf("a member got note %d, want 1", n)
	}
	h.world.commit(member(session, who.User, delivery.Left), note(delivery.ToSession(session), 2), note(delivery.ToUser(who.User), 3))
	c.next()
	if n := c.note(); n != 3 {
		t.Errorf("after the removal came note %d, want the personal 3", n)
	}
	c.cut()
	again := h.dial(token, before)
	again.greeted()
	again.next()
	again.next()
	if n := again.note(); n != 3 {
		t.Errorf("a replay from before gives note %d, want the personal 3", n)
	}
}

// A frame that is lost on the way is noticed at the next one, by its number, and a resume brings it (P9).
func TestALostFrameIsNoticedAndRecovered(t *testing.T) {
	h := newWorld(t).hub(nil)
	token, who := h.world.login(id.NewUser())
	c := h.dial(token, "")
	c.greeted()
	noticed := 0
	for n := 0; n < 2**lostFrames; n += 2 {
		h.world.commit(note(delivery.ToUser(who.User), n), note(delivery.ToUser(who.User), n+1))
		safe := c.cursor
		if _, _, err := c.socket.Read(t.Context()); err != nil { // lost: the client never sees it
			t.Fatal(err)
		}
		if _, err := c.tryNote(10 * time.Second); err == nil {
			t.Fatalf("frame %d was lost and nobody noticed", n)
		}
		noticed++
		c.cut()
		c = h.dial(token, safe)
		c.greeted()
		if first, second := c.note(), c.note(); first != n || second != n+1 {
			t.Fatalf("after the resume came %d, %d, want %d, %d", first, second, n, n+1)
		}
	}
	t.Logf("figure: P9: %d frames lost, %d noticed", *lostFrames, noticed)
	if noticed != *lostFrames {
		t.Errorf("%d of %d noticed", noticed, *lostFrames)
	}
}
