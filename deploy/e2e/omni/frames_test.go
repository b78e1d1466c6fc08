package omni

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// overFrames makes a tale of what S3 tells, frame by frame. Safe for concurrent use.
type overFrames struct {
	session string // frames of others are nothing to it
	mu      sync.Mutex
	told    *teller
	run     string // at hand
	asked   string // by the newest message of a person
	seen    map[string]bool
	err     error
}

func newOverFrames(session string) *overFrames {
	return &overFrames{session: session, told: newTeller(), seen: map[string]bool{}}
}

func (o *overFrames) take(f client.HubWebSocketFrame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var of struct {
		Session string `json:"session_id"`
	}
	key := client.Key(f)
	if o.err != nil || o.seen[key] || json.Unmarshal(f.Payload, &of) != nil || of.Session != o.session {
		return
	}
	o.seen[key] = true
	outcomes := map[client.HubWebSocketFrameType]string{
		client.HubWebSocketFrameTypeAgentDone: completed, client.HubWebSocketFrameTypeAgentFailed: failed, client.HubWebSocketFrameTypeAgentCancel: aborted,
	}
	switch {
	case f.Type == client.HubWebSocketFrameTypeMessageNew:
		o.message(f.Payload)
	case f.Type == client.HubWebSocketFrameTypeAgentStream:
		o.event(f.Payload)
	case outcomes[f.Type] != "":
		o.told.now().outcome = outcomes[f.Type]
	}
}

func (o *overFrames) message(payload json.RawMessage) {
	var m client.Message
	if o.err = json.Unmarshal(payload, &m); o.err != nil || m.SenderType != client.SenderTypeUser {
		return
	}
	var said struct {
		Text string `json:"text"`
	}
	o.err = json.Unmarshal(m.Content, &said)
	o.asked = said.Text
}

func (o *overFrames) event(payload json.RawMessage) {
	var p client.AgentStreamPayload
	if o.err = json.Unmarshal(payload, &p); o.err != nil {
		return
	}
	if o.run != p.TaskID {
		o.run = p.TaskID
		o.told.begin(o.asked)
	}
	of := json.RawMessage(p.Payload)
	o.err = o.told.happened(event.Stored(event.WireType(p.EventType), of), of)
}

// heard says whether an agent has said something that ends so.
func (o *overFrames) heard(words string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.told.turns) == 0 {
		return false
	}
	a := o.told.now().last("")
	return a != nil && strings.HasSuffix(a.text, words)
}

func (o *overFrames) tale() (*tale, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return &o.told.tale, o.err
}
