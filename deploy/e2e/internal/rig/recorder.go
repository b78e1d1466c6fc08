package rig

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Recorder is a device that watches. It keeps what it was shown by business key, in the order of first sight, as S3 asks of a client:
// a frame that comes again changes nothing. Safe for concurrent use.
type Recorder struct {
	device *Device
	stop   func()

	mu         sync.Mutex
	changed    chan struct{}
	frames     []string
	seen       map[string]bool // by key and sum of the content
	faults     []string        // frames that came again with other content, or before their turn
	reduced    *client.Reducer
	duplicates int
	resumes    []client.AuthOKPayload // one per connection
	onFrame    func(client.HubWebSocketFrame)
	lost       time.Time // when the connection ended; zero while there is one
	outages    []time.Duration
}

// Watch starts to record everything that the device is shown.
func (d *Device) Watch() *Recorder { return d.WatchWith(nil) }

// WatchWith is Watch; onFrame is called for each frame as soon as it comes, before anything else happens to it.
func (d *Device) WatchWith(onFrame func(client.HubWebSocketFrame)) *Recorder {
	r := &Recorder{device: d, changed: make(chan struct{}), seen: map[string]bool{}, reduced: client.NewReducer(), onFrame: onFrame}
	r.Reopen()
	d.rig.T.Cleanup(r.Close)
	return r
}

// Close cuts the device off.
func (r *Recorder) Close() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// Reopen lets the device come back with its newest cursor.
func (r *Recorder) Reopen() {
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { r.follow(ctx) })
	r.stop = func() { cancel(); following.Wait() }
}

func (r *Recorder) follow(ctx context.Context) {
	for e, err := range r.device.Stream(ctx, &r.device.at) {
		if err != nil {
			if ctx.Err() == nil {
				r.device.rig.T.Errorf("device %s: stream ended: %v", r.device.Name, err)
			}
			return
		}
		r.link(e.Link)
		if e.Frame == nil {
			continue
		}
		if r.onFrame != nil {
			r.onFrame(*e.Frame)
		}
		r.take(e)
	}
}

// link notes for how long the device was cut off.
func (r *Recorder) link(l client.Link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case l == client.LinkDown && r.lost.IsZero():
		r.lost = time.Now()
	case l == client.LinkUp && !r.lost.IsZero():
		r.outages = append(r.outages, time.Since(r.lost))
		r.lost = time.Time{}
	}
}

// Outages are the times for which the device was cut off, those that are over.
func (r *Recorder) Outages() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.outages)
}

// Connected says whether the device has a connection.
func (r *Recorder) Connected() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost.IsZero() && len(r.resumes) > 0
}

func (r *Recorder) take(e client.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { close(r.changed); r.changed = make(chan struct{}) }()
	if e.Link == client.LinkUp {
		r.resumes = append(r.resumes, *e.Resume)
	}
	key := client.Key(*e.Frame)
	if key == "" || e.Frame.Type == client.HubWebSocketFrameTypeAuthOk { // who is there belongs to no record
		return
	}
	entry := fmt.Sprintf("%s #%.4x", key, sha256.Sum256(e.Frame.Payload))
	if r.seen[entry] {
		r.duplicates++
		return
	}
	r.seen[entry] = true
	r.frames = append(r.frames, entry)
	// What has come before under this key is replaced by it (S3: merge), unless its key can have only one content.
	if verdict := r.reduced.Apply(*e.Frame); verdict != client.Applied {
		r.faults = append(r.faults, fmt.Sprintf("%s: verdict %v", entry, verdict))
	}
}

// Until waits until the recorder has seen what ok looks for. ok is called with the recorder's lock held.
func (r *Recorder) Until(what string, ok func(*Recorder) bool) {
	r.device.rig.T.Helper()
	limit := time.After(Patience)
	for {
		r.mu.Lock()
		done, changed := ok(r), r.changed
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit:
			frames := r.Frames()
			r.device.rig.T.Fatalf("device %s: waited in vain for %s; last of %d frames: %q",
				r.device.Name, what, len(frames), frames[max(0, len(frames)-5):])
		}
	}
}

// UntilConnected waits for the n-th connection.
func (r *Recorder) UntilConnected(n int) {
	r.device.rig.T.Helper()
	r.Until(fmt.Sprintf("connection %d", n), func(r *Recorder) bool { return len(r.resumes) >= n })
}

// UntilReset waits until the device's cursor has been refused n times for that reason; "": for any.
func (r *Recorder) UntilReset(n int, reason string) {
	r.device.rig.T.Helper()
	r.Until(fmt.Sprintf("reset %d, %s", n, reason), func(r *Recorder) bool {
		refused := 0
		for _, resume := range r.resumes {
			if resume.Resume == client.AuthOKPayloadResumeReset && (reason == "" || resume.Reason == reason) {
				refused++
			}
		}
		return refused >= n
	})
}

// Epochs are the lives of the store that the device was told of, each once, in order.
func (r *Recorder) Epochs() (epochs []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resume := range r.resumes {
		if !slices.Contains(epochs, resume.Epoch) {
			epochs = append(epochs, resume.Epoch)
		}
	}
	return epochs
}

// UntilFrames waits until the device has been shown n different things.
func (r *Recorder) UntilFrames(n int) {
	r.device.rig.T.Helper()
	r.Until(fmt.Sprintf("frame %d", n), func(r *Recorder) bool { return len(r.frames) >= n })
}

// UntilEvents waits until the device knows the first n events of a run.
func (r *Recorder) UntilEvents(run id.Run, n int) {
	r.device.rig.T.Helper()
	r.Until(fmt.Sprintf("event %d of %s", n, run), func(r *Recorder) bool { return r.reduced.Watermark(string(run)) >= int64(n) })
}

// UntilEnded waits for the outcome of a run and returns the type of its frame.
func (r *Recorder) UntilEnded(run id.Run) (outcome client.HubWebSocketFrameType) {
	r.device.rig.T.Helper()
	r.Until("the end of "+string(run), func(r *Recorder) bool {
		outcome = r.reduced.Outcome(string(run))
		return outcome != ""
	})
	return outcome
}

// UntilSettled waits until the device has been shown everything that there is about an ended run: outcome, whole log, final message.
func (r *Recorder) UntilSettled(run id.Run) {
	r.device.rig.T.Helper()
	r.UntilEnded(run)
	task := r.device.rig.owner.Task(run)
	r.Until("everything about "+string(run), func(r *Recorder) bool {
		_, known := r.reduced.Message(task.FinalMessageID)
		return r.reduced.Watermark(task.ID) >= task.LastEventSeq && (known || task.FinalMessageID == "")
	})
}

// Frames is the ordered list of what was seen: business keys, each with a sum of its content.
func (r *Recorder) Frames() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.frames)
}

// Versions is how many different contents of a business key were seen. It is for Until, which holds the lock.
func (r *Recorder) Versions(key string) (n int) {
	for _, frame := range r.frames {
		if strings.HasPrefix(frame, key+" #") {
			n++
		}
	}
	return n
}

// Digest is over the events of a run that were seen, comparable with client.LogDigest.
func (r *Recorder) Digest(run id.Run) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reduced.RunDigest(string(run))
}

// Everything is the digest of all frames of the record, in the order in which the device was shown them.
func (r *Recorder) Everything() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reduced.Digest()
}

// Message returns a message that was seen.
func (r *Recorder) Message(message string) (client.Message, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reduced.Message(message)
}

// Duplicates is how many frames came again.
func (r *Recorder) Duplicates() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.duplicates
}

// Resumes is how the hub took the cursor at each connection.
func (r *Recorder) Resumes() []client.AuthOKPayload {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.resumes)
}

// Check fails the test if a frame came twice with different content, if an event was passed over, or if a cursor was ever refused.
func (r *Recorder) Check() {
	r.device.rig.T.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.faults) > 0 {
		r.device.rig.T.Errorf("device %s: came with other content, or out of order: %q", r.device.Name, r.faults)
	}
	for _, resume := range r.resumes {
		if resume.Resume == client.AuthOKPayloadResumeReset {
			r.device.rig.T.Errorf("device %s: its cursor was refused: %s", r.device.Name, resume.Reason)
		}
	}
}
