package runlog

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// pathKeys are the fields of our own events that hold an absolute path of the edge's machine (ruling R25).
var pathKeys = map[event.Type]string{event.RunStarted: "workDir", event.SessionInit: "agent_state"}

// ForStrangers returns the event as people see it who do not own the edge: without the directories of its machine (ruling R18). Everything else
// is what the agent said, and stays as it is; changed is false if there was nothing to leave out.
func (e StoredEvent) ForStrangers() (shown StoredEvent, changed bool) {
	key, has := pathKeys[e.Type]
	if !has {
		return e, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Payload, &fields) != nil {
		return e, false
	}
	if _, ok := fields[key]; !ok {
		return e, false
	}
	delete(fields, key)
	payload, err := event.Encode(fields)
	if err != nil {
		return e, false
	}
	checksum, err := event.Checksum(payload)
	if err != nil {
		return e, false
	}
	e.Payload, e.Checksum = payload, checksum
	return e, true
}
