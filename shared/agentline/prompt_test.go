package agentline_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestPromptsThatNobodyCouldAnswerAreTold(t *testing.T) {
	for line, ok := range map[string]bool{
		`{"type":"prompt","request_id":"1","kind":"question","inner":{"question":"a?"}}`:                          true,
		`{"type":"prompt","request_id":"1","kind":"question","inner":{"question":"a?"},"timeout_ms":1}`:           true,
		`{"type":"prompt","request_id":"1","kind":"question","inner":{"question":"a?"},"timeout_ms":-1}`:          false,
		`{"type":"prompt","request_id":"1","kind":"question","inner":{"question":"a?"},"timeout_ms":99999999999}`: false,
		`{"type":"prompt","request_id":"1","kind":"question","inner":{}}`:                                         false,
		`{"type":"prompt","request_id":"1","kind":"permission","inner":{}}`:                                       false,
		`{"type":"prompt","request_id":"1"}`:                                                                      false,
	} {
		l, err := agentline.Parse([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := l.CheckPrompt(); (got == nil) != ok {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestResponsesRoundTripInOneLine(t *testing.T) {
	for _, r := range []agentline.Response{
		{RequestID: "1", Decision: event.Allow, Response: json.RawMessage(`{"custom_text":"a < b"}`)},
		{RequestID: "2", Decision: event.NoAnswer, Reason: "Nobody\nanswered."},
	} {
		line, err := r.Encode()
		if err != nil || line[len(line)-1] != '\n' {
			t.Fatalf("%q, %v", line, err)
		}
		r.Type = agentline.PromptResponse
		if back, err := agentline.ParseResponse(line); err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%+v came back as %+v, %v", r, back, err)
		}
	}
	for _, line := range []string{``, `{}`, `{"type":"permission_response"}`, `{"type":"prompt_response","request_id":7}`} {
		if _, err := agentline.ParseResponse([]byte(line)); !errors.Is(err, agentline.ErrNoResponse) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
