package runlog

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestStrangersSeeNoDirectoriesOfAMachine(t *testing.T) {
	for _, line := range []struct {
		event         event.Type
		payload, want string
	}{
		{event.RunStarted, `{"started_at":"x","workDir":"/home/ada"}`, `{"started_at":"x"}`},
		{event.RunStarted, `{"started_at": "x"}`, `{"started_at": "x"}`},
		{event.SessionInit, `{"agent_state":"/home/ada/.agent","model":"m","system_prompt":"Work in /home/ada."}`, `{"model":"m","system_prompt":"Work in /home/ada."}`},
		{event.SessionInit, `{"workDir":"said by the agent"}`, `{"workDir":"said by the agent"}`},
		{event.MessageDelta, `{"delta":"/home/ada","workDir":"x"}`, `{"delta":"/home/ada","workDir":"x"}`},
		{event.SessionInit, `no object`, `no object`},
	} {
		shown, changed := StoredEvent{Type: line.event, Payload: json.RawMessage(line.payload)}.ForStrangers()
		if string(shown.Payload) != line.want || changed != (line.want != line.payload) {
			t.Errorf("%s %s is shown as %s, changed %v", line.event, line.payload, shown.Payload, changed)
		}
		if sum, err := event.Checksum(shown.Payload); changed && (err != nil || sum != shown.Checksum) {
			t.Errorf("the checksum of %s is %s, want %s, %v", shown.Payload, shown.Checksum, sum, err)
		}
	}
}
