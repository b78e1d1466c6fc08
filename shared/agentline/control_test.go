package agentline_test

import (
	"errors"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
)

func TestControlsRoundTrip(t *testing.T) {
	for want, c := range map[string]agentline.Control{
		`{"type":"steer","steer_id":"steer_1","text":"a < b\n"}`: {Type: agentline.Steer, SteerID: "steer_1", Text: "a < b\n"},
		`{"type":"retry_now"}`: {Type: agentline.RetryNow},
		`{"type":"compact"}`:   {Type: agentline.Compact},
	} {
		line, err := c.Encode()
		if err != nil || string(line) != want+"\n" {
			t.Errorf("got %s, %v, want %s", line, err, want)
		}
		if back, err := agentline.ParseControl(line); err != nil || back != c {
			t.Errorf("read %+v, %v", back, err)
		}
	}
	for _, bad := range []string{``, `x`, `[]`, `{}`, `{"type":"Steer"}`, `{"type":"prompt_response"}`, `{"type":"steer","text":1}`} {
		if c, err := agentline.ParseControl([]byte(bad)); !errors.Is(err, agentline.ErrNoControl) {
			t.Errorf("%s: %+v, %v", bad, c, err)
		}
	}
}
