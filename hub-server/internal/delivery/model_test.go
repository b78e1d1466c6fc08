package delivery

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
	"pgregory.net/rapid"
)

// The model: two hubs over one outbox, people who post, join and leave, and devices that read, stall, are cut off in the middle of what
// they were sent, and come back by cursor or by device, on either hub. In the end each device knows exactly what the store knows.
func TestClientsEndUpWithTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.begin(t)
		t.Repeat(map[string]func(*rapid.T){
			"post":    w.post,
			"join":    w.join,
			"leave":   w.leave,
			"tail":    w.tail,
			"read":    w.read,
			"ack":     w.ack,
			"cut":     w.cut,
			"connect": w.connect,
			"trim":    w.trim,
		})
		w.settle(t)
	})
}

type world struct {
	out      *memoryOutbox
	marks    *Marks
	hubs     []*Tail
	users    []id.User
	sessions []id.Session
	devices  []*device
	posts    map[id.Session][]int // by number
	where    map[int]Position     // of a post
	n        int
}

// device is a client that follows the rules of api/events.md.
type device struct {
	user   id.User
	id     id.Device
	stream *Stream
	handed []Frame // by the hub, not applied yet
	cursor string
	known  map[id.Session]map[int]bool
	byMark bool // this client knows nothing of cursors
}

type said struct {
	N       int        `json:"n"`
	Session id.Session `json:"session"`
	User    id.User    `json:"user"`
	Fill    string     `json:"fill"`
}

func newWorld(t *rapid.T) *world {
	w := &world{out: newMemoryOutbox(), posts: map[id.Session][]int{}, where: map[int]Position{}}
	w.marks = newTestMarks(newMemoryMarks())
	for range 2 {
		tail := newNarrowTail(w.out, inline{}, 2<<10)
		if _, err := tail.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.hubs = append(w.hubs, tail)
		w.sessions = append(w.sessions, id.NewSession())
	}
	for i := range 3 {
		w.users = append(w.users, id.NewUser())
		for j := range 2 {
			w.devices = append(w.devices, &device{
				user: w.users[i], id: id.NewDevice(), known: map[id.Session]map[int]bool{}, byMark: j == 1,
			})
		}
	}
	return w
}

// begin puts everybody into the first conversation and connects every device, attached.
func (w *world) begin(t *rapid.T) {
	for _, u := range w.users {
		w.enter(w.sessions[0], u)
	}
	for i, d := range w.devices {
		w.dial(t, d, w.hubs[i%2])
	}
	for _, hub := range w.hubs {
		w.step(t, hub)
	}
	for _, d := range w.devices {
		for w.next(t, d) {
		}
	}
}

func (w *world) row(to Audience, frameType string, e said) Row {
	payload, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return Row{Audience: to, Kind: KindFrame, FrameType: frameType, Payload: payload}
}

func (w *world) post(t *rapid.T) {
	s := rapid.SampledFrom(w.sessions).Draw(t, "session")
	fill := strings.Repeat("x", rapid.SampledFrom([]int{0, 900}).Draw(t, "fill"))
	for range rapid.IntRange(1, 4).Draw(t, "posts") {
		w.n++
		w.where[w.n] = w.out.commit(w.row(ToSession(s), "post", said{N: w.n, Session: s, Fill: fill}))
		w.posts[s] = append(w.posts[s], w.n)
	}
}

func (w *world) member(u id.User, s id.Session) bool {
	return w.out.wasMember(u, s, Position(len(w.out.rows))+1)
}

func (w *world) join(t *rapid.T) {
	s, u := rapid.SampledFrom(w.sessions).Draw(t, "session"), rapid.SampledFrom(w.users).Draw(t, "user")
	if w.member(u, s) {
		t.Skip("is a member")
	}
	w.enter(s, u)
}

func (w *world) enter(s id.Session, u id.User) {
	r := w.row(ToSession(s), "joined", said{Session: s, User: u})
	r.Session, r.Change, r.ChangeUser = s, Joined, u
	w.out.commit(r)
}

func (w *world) leave(t *rapid.T) {
	s, u := rapid.SampledFrom(w.sessions).Draw(t, "session"), rapid.SampledFrom(w.users).Draw(t, "user")
	if !w.member(u, s) {
		t.Skip("is no member")
	}
	r := w.row(ToSession(s), "left", said{Session: s, User: u})
	r.Session, r.Change, r.ChangeUser = s, Left, u
	w.out.commit(r, w.row(ToUser(u), "left", said{Session: s, User: u}))
}

func (w *world) tail(t *rapid.T) {
	hub := rapid.SampledFrom(w.hubs).Draw(t, "hub")
	w.out.hide = 0
	if head := Position(len(w.out.rows)); head > hub.Position()+1 && rapid.Bool().Draw(t, "hole") {
		w.out.hide = hub.Position() + 1 + Position(rapid.Uint64Range(0, uint64(head-hub.Position()-2)).Draw(t, "hidden"))
	}
	w.step(t, hub)
	w.out.hide = 0
}

func (w *world) step(t *rapid.T, hub *Tail) {
	if _, err := hub.Step(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func (w *world) connected(t *rapid.T) *device {
	var on []*device
	for _, d := range w.devices {
		if d.stream != nil {
			on = append(on, d)
		}
	}
	if len(on) == 0 {
		t.Skip("nobody is connected")
	}
	return rapid.SampledFrom(on).Draw(t, "device")
}

func (w *world) read(t *rapid.T) {
	d := w.connected(t)
	w.next(t, d)
	w.apply(t, d, len(d.handed))
}

// next takes what the stream has, if anything.
func (w *world) next(t *rapid.T, d *device) bool {
	select {
	case <-d.stream.Ready():
	default:
		return false
	}
	frames, err := d.stream.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	d.handed = append(d.handed, frames...)
	return true
}

func (w *world) apply(t *rapid.T, d *device, count int) {
	for _, f := range d.handed[:count] {
		got := receive(t, f, 1)
		var e said
		if err := json.Unmarshal(got.Payload, &e); err != nil {
			t.Fatal(err)
		}
		w.applyOne(t, d, got.Type, e)
		if got.Cursor != "" {
			d.cursor = got.Cursor
		}
	}
	d.handed = d.handed[count:]
}

func (w *world) applyOne(t *rapid.T, d *device, frameType string, e said) {
	switch {
	case frameType == "post":
		if !w.out.wasMember(d.user, e.Session, w.where[e.N]) {
			t.Fatalf("post %d was delivered to somebody who was no member then", e.N)
		}
		// A page is cut by what holds when it is read: whoever was put out meanwhile may miss their joining and still hear a post of the
		// time between from the tail. A client asks for a conversation that it does not know.
		if d.known[e.Session] == nil {
			w.fetch(d, e.Session)
			return
		}
		d.known[e.Session][e.N] = true
	case frameType == "left" && e.User == d.user:
		delete(d.known, e.Session)
	case frameType == "joined" && e.User == d.user:
		w.fetch(d, e.Session)
	}
}

// fetch reads a conversation over REST, which answers members only.
func (w *world) fetch(d *device, s id.Session) {
	if !w.member(d.user, s) {
		return
	}
	d.known[s] = map[int]bool{}
	for _, n := range w.posts[s] {
		d.known[s][n] = true
	}
}

// ack is a pong behind everything that was handed out.
func (w *world) ack(t *rapid.T) {
	d := w.connected(t)
	w.apply(t, d, len(d.handed))
	w.marks.Move(d.user, d.id, d.stream.Position())
	if !d.byMark {
		d.cursor = string(d.stream.Cursor()) // a heartbeat
	}
}

func (w *world) cut(t *rapid.T) {
	d := w.connected(t)
	w.next(t, d)
	w.apply(t, d, rapid.IntRange(0, len(d.handed)).Draw(t, "arrived"))
	d.stream.Close()
	d.stream, d.handed = nil, nil
}

func (w *world) connect(t *rapid.T) {
	d := rapid.SampledFrom(w.devices).Draw(t, "device")
	if d.stream != nil {
		t.Skip("is connected")
	}
	w.dial(t, d, rapid.SampledFrom(w.hubs).Draw(t, "hub"))
}

func (w *world) dial(t *rapid.T, d *device, hub *Tail) {
	cursor := d.cursor
	if d.byMark {
		cursor = ""
	}
	planned, err := Planner{Outbox: w.out, Marks: w.marks}.Plan(context.Background(), d.user, d.id, cursor)
	if err != nil {
		t.Fatal(err)
	}
	if planned.Outcome != Replayed {
		d.known = map[id.Session]map[int]bool{}
		for _, s := range w.sessions {
			if w.member(d.user, s) {
				w.fetch(d, s)
			}
		}
	}
	d.cursor = string(planned.Cursor)
	if d.byMark {
		w.marks.Move(d.user, d.id, planned.From) // the first pong
	}
	if d.stream, err = hub.Open(context.Background(), d.user, planned.From); err != nil {
		t.Fatal(err)
	}
}

// trim removes the older half of the outbox, as far as both hubs have passed it.
func (w *world) trim(*rapid.T) {
	passed := min(w.hubs[0].Position(), w.hubs[1].Position())
	w.out.floor = max(w.out.floor, passed/2)
	for _, d := range w.devices {
		if d.stream != nil {
			w.out.floor = min(w.out.floor, d.stream.Position())
		}
	}
}

// settle connects everybody and lets everything arrive.
func (w *world) settle(t *rapid.T) {
	for _, d := range w.devices {
		if d.stream == nil {
			w.dial(t, d, w.hubs[0])
		}
	}
	for _, hub := range w.hubs {
		w.step(t, hub)
	}
	for _, d := range w.devices {
		for w.next(t, d) {
		}
		w.apply(t, d, len(d.handed))
		w.compare(t, d)
		d.stream.Close()
	}
}

func (w *world) compare(t *rapid.T, d *device) {
	for _, s := range w.sessions {
		if !w.member(d.user, s) {
			if _, known := d.known[s]; known {
				t.Fatalf("the device still shows a conversation that its user has left")
			}
			continue
		}
		truth := map[int]bool{}
		for _, n := range w.posts[s] {
			truth[n] = true
		}
		if !maps.Equal(truth, d.known[s]) {
			t.Fatalf("the device knows %v, the store %v", d.known[s], truth)
		}
	}
	if got, want := d.stream.Position(), Position(len(w.out.rows)); got != want {
		t.Fatalf("stream ends at %d, outbox at %d", got, want)
	}
}
