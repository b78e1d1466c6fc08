package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/switchyard-dev/switchyard/edge-server/internal/retry"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// refuse answers with a status, a body, and headers as "Name: value".
func refuse(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// breakOff says a piece, and then the connection is gone.
func breakOff(piece string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		stream(piece)(w, r)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// stream says events as they are, and ends in good order.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
}

// waits is a clock that passes at once and keeps what it was asked for.
type waits []time.Duration

func (w *waits) wait(ctx context.Context, d time.Duration) error {
	*w = append(*w, d)
	return ctx.Err()
}

// ends are the facts of ended requests, each held to its shape.
func ends(t *testing.T, lines []agentline.Line) []event.RequestEndPayload {
	t.Helper()
	var all []event.RequestEndPayload
	var begun []string
	for _, l := range lines {
		if !l.Fact() {
			continue
		}
		if err := event.CheckFact(event.Type(l.Type), l.Payload); err != nil {
			t.Errorf("%s %s: %v", l.Type, l.Payload, err)
		}
		var p event.RequestEndPayload
		_ = json.Unmarshal(l.Payload, &p)
		switch event.Type(l.Type) {
		case event.RequestBegin:
			begun = append(begun, p.RequestID)
		case event.RequestEnd:
			all = append(all, p)
			if len(begun) != len(all) || begun[len(begun)-1] != p.RequestID || slices.Contains(begun[:len(begun)-1], p.RequestID) {
				t.Errorf("%q ended after %q had begun", p.RequestID, begun)
			}
		}
	}
	if len(begun) != len(all) {
		t.Errorf("%d requests began, %d ended", len(begun), len(all))
	}
	return all
}

const hello = `{"choices":[{"index":0,"delta":{"content":"Hel"}}]}`

func TestARequestThatFailsIsMadeAgainWithTheWaitsOfS1(t *testing.T) {
	m := newModel(t, `{"content":"Hello"}`)
	m.script = []http.HandlerFunc{
		refuse(503, `{"error":{"message":"busy"}}`), refuse(429, `{"error":{"message":"slow down"}}`, "Retry-After: 20"),
		breakOff(hello), stream(hello), stream(hello, `{"choices":`),
	}
	opts, clock := m.options(t), waits{}
	opts.wait = clock.wait
	lines := run(t, opts, "", "hi")

	s := time.Second
	if want := (waits{2 * s, 20 * s, 8 * s, 16 * s, 30 * s}); !slices.Equal(clock, want) {
		t.Errorf("waited %v", clock)
	}
	var told []string
	for i, e := range ends(t, lines) {
		retryIn := int64(-1)
		if e.RetryInMS != nil {
			retryIn = *e.RetryInMS
		}
		told = append(told, fmt.Sprint(e.Status, " ", e.Attempt, " ", retryIn))
		if (e.ErrorMessage == "") != (i == 5) {
			t.Errorf("%d says %q", i, e.ErrorMessage)
		}
	}
	want := []string{"failed 1 2000", "timeout 2 20000", "timeout 3 8000", "malformed 4 16000", "malformed 5 30000", "completed 6 -1"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	if last := lines[len(lines)-1]; last.Type != agentline.Done || last.Answer != "Hello" {
		t.Errorf("ended with %+v", last)
	}
	for i, asked := range m.asked {
		want := "hi" + map[bool]string{true: retriedMark}[i > 0]
		if last := asked.Messages[len(asked.Messages)-1]; last.Content != want || len(asked.Messages) != 2 {
			t.Errorf("request %d asks %+v", i+1, asked)
		}
	}
}

func TestWhatABrokenAttemptSaidIsNoPartOfTheNextAnswer(t *testing.T) {
	m := newModel(t, `{"content":"Hello"}`)
	m.script = []http.HandlerFunc{breakOff(hello), breakOff(`{"choices":[{"index":0,"delta":{"reasoning":"hm"}}]}`), refuse(500, ``)}
	var said []string
	for _, l := range run(t, m.options(t), "", "hi") {
		switch {
		case l.Type == agentline.Delta && l.Last:
			said = append(said, "|")
		case l.Type == agentline.Delta:
			said = append(said, l.Content)
		case event.Type(l.Type) == event.RequestEnd:
			said = append(said, "end")
		case event.Type(l.Type) == event.Thinking:
			said = append(said, "thought")
		}
	}
	if want := []string{"Hel", "end", "thought", "end", "end", "Hello", "end"}; !slices.Equal(said, want) {
		t.Errorf("said %q", said)
	}
}

func TestAnEndpointThatFallsSilentIsAskedAgain(t *testing.T) {
	quiet := make(chan struct{})
	m := newModel(t, `{"content":"Hello"}`)
	t.Cleanup(func() { close(quiet) }) // before the server waits for its requests
	m.script = []http.HandlerFunc{
		func(w http.ResponseWriter, r *http.Request) {
			stream(hello)(w, r)
			w.(http.Flusher).Flush()
			select {
			case <-quiet:
			case <-r.Context().Done():
			}
		},
	}
	opts := m.options(t)
	opts.silence = 200 * time.Millisecond
	lines := run(t, opts, "", "hi")
	told := ends(t, lines)
	if len(told) != 2 || told[0].Status != event.RequestTimeout || !strings.Contains(told[0].ErrorMessage, "has said nothing for too long") {
		t.Errorf("told %+v", told)
	}
	if last := lines[len(lines)-1]; last.Answer != "Hello" {
		t.Errorf("%+v", last)
	}
}

func TestARefusedKeyIsNotTriedAgain(t *testing.T) {
	for _, status := range []int{401, 403} {
		m := newModel(t)
		m.script = []http.HandlerFunc{refuse(status, `{"error":{"message":"bad key"}}`, "Retry-After: 1")}
		opts, clock := m.options(t), waits{}
		opts.wait = clock.wait
		lines := run(t, opts, "", "hi")
		told := ends(t, lines)
		if len(told) != 1 || told[0].Status != event.RequestAuth || told[0].Attempt != 1 || told[0].RetryInMS != nil || len(clock) > 0 || len(m.asked) != 1 {
			t.Errorf("%d: told %+v, waited %v, asked %d times", status, told, clock, len(m.asked))
		}
		if last := lines[len(lines)-1]; last.ErrorCode != "permission_denied" || !strings.Contains(last.ErrorMessage, "Check OPENAI_API_KEY.") || last.Retryable {
			t.Errorf("%d: %+v", status, last)
		}
	}
}

func TestAfterTheSixthAttemptTheTurnFails(t *testing.T) {
	m := newModel(t, `{"content":"Hel"}`)
	m.cut = true
	opts, clock := m.options(t), waits{}
	opts.wait = clock.wait
	lines := run(t, opts, "", "hi")
	told := ends(t, lines)
	if len(told) != 6 || len(m.asked) != 6 || !slices.Equal(clock, retry.Waits()) || told[5].Attempt != 6 || told[5].RetryInMS != nil {
		t.Errorf("told %+v, waited %v", told, clock)
	}
	if last := lines[len(lines)-1]; last.ErrorCode != "model_error" || !last.Retryable {
		t.Errorf("%+v", last)
	}
}

func TestALongWishForPatienceEndsTheTurnAndIsTold(t *testing.T) {
	m := newModel(t)
	m.script = []http.HandlerFunc{refuse(429, `{}`, "Retry-After: 300")}
	lines := run(t, m.options(t), "", "hi")
	if last := lines[len(lines)-1]; len(m.asked) != 1 || last.ErrorCode != "rate_limit" || !strings.Contains(last.ErrorMessage, "Try again in 5m0s.") {
		t.Errorf("asked %d times: %+v", len(m.asked), last)
	}
}

func TestUsageIsToldOfEachRequestAndOfAllTogether(t *testing.T) {
	used := `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`
	m := newModel(t, `{"content":"x"}`)
	m.script = []http.HandlerFunc{breakOff(used)}
	lines := run(t, m.options(t), "", "hi")
	told := ends(t, lines)
	if len(told) != 2 || string(told[0].Usage) != `{"input_tokens":5,"output_tokens":1,"total_tokens":6}` ||
		string(told[1].Usage) != `{"input_tokens":7,"output_tokens":2,"total_tokens":9}` || told[1].Model != "tiny-1" {
		t.Errorf("told %+v", told)
	}
	i := slices.IndexFunc(lines, func(l agentline.Line) bool { return event.Type(l.Type) == event.AgentResult })
	if got := string(lines[i].Payload); got != `{"usage":{"input_tokens":12,"model":"tiny-1","output_tokens":3,"total_tokens":15}}` {
		t.Error(got)
	}
}

func TestAStopWhileItWaitsEndsTheTurn(t *testing.T) {
	m := newModel(t)
	m.script = []http.HandlerFunc{refuse(503, `{}`)}
	ctx, stop := context.WithCancel(t.Context())
	opts := m.options(t)
	opts.wait = func(ctx context.Context, _ time.Duration) error {
		stop()
		return ctx.Err()
	}
	var out bytes.Buffer
	err := Run(ctx, strings.NewReader(`{"type":"turn","message":"hi"}`), &out, opts)
	if !errors.Is(err, context.Canceled) || len(m.asked) != 1 || !strings.Contains(out.String(), `"user_aborted"`) {
		t.Errorf("%v, asked %d times: %s", err, len(m.asked), &out)
	}
}

func TestPauseLastsAsLongAsItShouldOrUntilTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := pause(t.Context(), 30*time.Second); err != nil || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := pause(ctx, time.Hour); err == nil || time.Since(began) != 31*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestEndingsAreReadFromStatuses(t *testing.T) {
	now := time.Date(2026, 5, 22, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		code   string
		header [2]string
		want   retry.Ending
	}{
		{401, "", [2]string{}, retry.Ending{Reason: omni.Auth}},
		{403, "", [2]string{}, retry.Ending{Reason: omni.Auth}},
		{408, "", [2]string{}, retry.Ending{Reason: omni.Timeout}},
		{409, "", [2]string{}, retry.Ending{Reason: omni.Failed}},
		{429, "", [2]string{"Retry-After", "Fri, 22 May 2026 12:00:20 GMT"}, retry.Ending{Reason: omni.Timeout, Asked: 20 * time.Second}},
		{429, "", [2]string{"Retry-After-Ms", "1500"}, retry.Ending{Reason: omni.Timeout, Asked: 1500 * time.Millisecond}},
		{429, "insufficient_quota", [2]string{}, retry.Ending{Reason: omni.Failed, Permanent: true}},
		{500, "", [2]string{}, retry.Ending{Reason: omni.Failed}},
		{500, "", [2]string{"X-Should-Retry", "false"}, retry.Ending{Reason: omni.Failed, Permanent: true}},
		{503, "", [2]string{"Retry-After", "3"}, retry.Ending{Reason: omni.Failed, Asked: 3 * time.Second}},
		{504, "", [2]string{}, retry.Ending{Reason: omni.Timeout}},
		{400, "", [2]string{}, retry.Ending{Reason: omni.Failed, Permanent: true}},
		{400, "", [2]string{"X-Should-Retry", "true"}, retry.Ending{Reason: omni.Failed}},
		{404, "", [2]string{}, retry.Ending{Reason: omni.Failed, Permanent: true}},
		{500, "context_length_exceeded", [2]string{}, retry.Ending{Reason: omni.Failed, Permanent: true}},
	} {
		response := &http.Response{Header: http.Header{}}
		response.Header.Set(c.header[0], c.header[1])
		err := fmt.Errorf("ask: %w", &openai.Error{StatusCode: c.status, Code: c.code, Response: response})
		if got := endingOf(err, now); got != c.want {
			t.Errorf("%d %s %q: %+v", c.status, c.code, c.header, got)
		}
	}
}

func TestAnAddressThatIsNoneIsNotAskedForAMinute(t *testing.T) {
	for _, address := range []string{"localhost:11434/v1", "127.0.0.1:1/v1", "http://", "ftp://example.org", "model"} {
		lines := run(t, Options{BaseURL: address, Model: "tiny", Dir: t.TempDir()}, "", "hi")
		if len(lines) != 1 || !strings.Contains(lines[0].ErrorMessage, "OPENAI_BASE_URL is no address") || lines[0].Retryable {
			t.Errorf("%s: %+v", address, lines)
		}
	}
}
