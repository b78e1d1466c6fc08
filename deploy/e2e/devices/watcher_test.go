package devices

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// watcher is a device that notes every frame of its socket.
type watcher struct {
	*rig.Device
	t        *testing.T
	recorder *rig.Recorder

	mu      sync.Mutex
	shown   []client.HubWebSocketFrame
	changed chan struct{}
}

// watch begins to note what a device is shown.
func watch(t *testing.T, d *rig.Device) *watcher {
	t.Helper()
	w := &watcher{Device: d, t: t, changed: make(chan struct{})}
	w.recorder = d.WatchWith(w.note)
	w.recorder.UntilConnected(1)
	return w
}

func (w *watcher) note(f client.HubWebSocketFrame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown = append(w.shown, f)
	close(w.changed)
	w.changed = make(chan struct{})
}

// forget begins anew.
func (w *watcher) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown = nil
}

// frames are what was shown since.
func (w *watcher) frames() []client.HubWebSocketFrame {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.shown)
}

// until waits until a frame was shown.
func (w *watcher) until(what string, is func(client.HubWebSocketFrame) bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), rig.Patience)
	defer cancel()
	for {
		w.mu.Lock()
		shown, changed := slices.ContainsFunc(w.shown, is), w.changed
		w.mu.Unlock()
		if shown {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.t.Fatalf("%s waited in vain for %s; it was shown %q", w.Name, what, keysOf(w.frames(), ""))
		}
	}
}

// untilMessage waits until a message was shown.
func (w *watcher) untilMessage(id string) {
	w.t.Helper()
	key := string(client.HubWebSocketFrameTypeMessageNew) + " " + id
	w.until(key, func(f client.HubWebSocketFrame) bool { return client.Key(f) == key })
}

// untilType waits until a frame of a type was shown.
func (w *watcher) untilType(typ client.HubWebSocketFrameType) {
	w.t.Helper()
	w.until(string(typ), func(f client.HubWebSocketFrame) bool { return f.Type == typ })
}

// keysOf are the keys of the frames of a type, of all types if it is "". A frame without a key has the name of its type.
func keysOf(frames []client.HubWebSocketFrame, typ client.HubWebSocketFrameType) (keys []string) {
	for _, f := range frames {
		if typ != "" && f.Type != typ {
			continue
		}
		key := client.Key(f)
		if key == "" {
			key = string(f.Type)
		}
		keys = append(keys, key)
	}
	return keys
}

// someone is a person with a device that is there all the time and one that is cut off while something happens.
type someone struct {
	name       string
	id         string
	live, away *watcher
	home       string // a conversation of nobody else
	cursor     string // of GET /client/sync, from before it happened
}

func newSomeone(t *testing.T, first *rig.Device, name string) *someone {
	t.Helper()
	me, err := client.Decode[client.Me](first.API().GetMe(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	p := &someone{
		name: name, id: me.User.ID, home: first.Group(name + "'s own"),
		live: watch(t, first.Another(name+", there", first.Hub())), away: watch(t, first.Another(name+", away", first.Hub())),
	}
	p.live.until("the list of friends who are online", listsFriends)
	return p
}

// listsFriends says whether a frame is the greeting that ends the catching up.
func listsFriends(f client.HubWebSocketFrame) bool {
	greeting, err := client.PayloadOf[client.AuthOKPayload](f)
	return f.Type == client.HubWebSocketFrameTypeAuthOk && err == nil && greeting.Online != nil
}

// leave forgets what was, cuts one device off, and remembers the place.
func (p *someone) leave(t *testing.T) {
	t.Helper()
	p.away.recorder.Close()
	p.live.forget()
	p.away.forget()
	page, err := client.Decode[client.SyncPage](p.live.API().SyncChanges(t.Context(), &client.SyncChangesParams{}))
	if err != nil {
		t.Fatal(err)
	}
	p.cursor = page.Cursor
}

// comeBack returns when both devices have been shown everything that has happened, and what GET /client/sync has of it.
func (p *someone) comeBack(t *testing.T) (synced []client.HubWebSocketFrame) {
	t.Helper()
	last := p.live.Post(p.home, client.MessageInput{ClientMsgID: newKey(), Content: rig.Text("that was it")}).MessageID
	p.away.recorder.Reopen()
	p.live.untilMessage(last)
	p.away.untilMessage(last)
	for more := true; more; {
		page, err := client.Decode[client.SyncPage](p.live.API().SyncChanges(t.Context(), &client.SyncChangesParams{Cursor: &p.cursor}))
		if err != nil || page.Resume != client.SyncPageResumeReplayed {
			t.Fatalf("sync: %s %s, %v", page.Resume, page.Reason, err)
		}
		synced = append(synced, page.Items...)
		p.cursor, more = page.Cursor, page.More
	}
	return p.told(synced)
}

// told are frames without those of the messages that comeBack sends.
func (p *someone) told(frames []client.HubWebSocketFrame) []client.HubWebSocketFrame {
	return slices.DeleteFunc(frames, func(f client.HubWebSocketFrame) bool { return sessionIn(string(f.Payload)) == p.home })
}

// within is a context for what should take moments.
func within(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), rig.Patience)
}
