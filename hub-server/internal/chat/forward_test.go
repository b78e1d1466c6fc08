package chat

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestTheContentOfAForwardedMessageDoesNotNameTheRun(t *testing.T) {
	said, err := AgentMessage(id.NewMessage(), id.NewSession(), id.NewAgent(), id.NewRun(), "done <ok>", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		string(said.Content):                  `{"text":"done <ok>"}`,
		`{"text":"<a>  b","n":1.0}`:           `{"text":"<a>  b","n":1.0}`,
		`{"code":"x < y","language":"go"}`:    `{"code":"x < y","language":"go"}`,
		`{"agent_task":{},"b":1.0,"a":"<é>"}`: `{"a":"<é>","b":1.0}`,
	} {
		if got, err := withoutTask([]byte(content)); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v, want %s", content, got, err, want)
		}
	}
}
