package runlog

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// workDirKey is the one field of our own events that holds an absolute path of the edge's machine (ruling R25).
const workDirKey = "workDir"

// ForStrangers returns the event as people see it who do not own the edge: without the working directory (ruling R18). Everything else
// is what the agent said, and stays as it is; changed is false if there was nothing to leave out.
func (e StoredEvent) ForStrangers() (shown StoredEvent, changed bool) {
	if e.Type != event.RunStarted {
		return e, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Payload, &fields) != nil {
		return e, false
	}
	if _, ok := fields[workDirKey]; !ok {
		return e, false
	}
	delete(fields, workDirKey)
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
