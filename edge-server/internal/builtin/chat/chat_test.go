package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestMain(m *testing.M) {
	// The client library keeps connections of the default transport open.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// model is a small server of the chat protocol. It answers with pieces, and remembers what it was asked.
type model struct {
	*httptest.Server
	asked  []request
	script []http.HandlerFunc // the first answers; those below are the next ones
	status int                // of the next answers; 0 is 200
	body   string             // of an answer that is no 200
	pieces []string
	cut    bool // the connection breaks after the pieces
}

type request struct {
	Authorization string
	Model         string
	Messages      []message
	Stream        bool
	Effort        string `json:"reasoning_effort"`
}

func newModel(t *testing.T, pieces ...string) *model {
	t.Helper()
	m := &model{pieces: pieces}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	t.Cleanup(m.Close)
	return m
}

func (m *model) answer(w http.ResponseWriter, r *http.Request) {
	asked := request{Authorization: r.Header.Get("Authorization")}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &asked)
	m.asked = append(m.asked, asked)
	if n := len(m.asked); n <= len(m.script) {
		m.script[n-1](w, r)
		return
	}
	if m.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Should-Retry", "false")
		w.WriteHeader(m.status)
		_, _ = io.WriteString(w, m.body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, piece := range m.pieces {
		fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"tiny-1\",\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", piece)
		w.(http.Flusher).Flush()
	}
	if m.cut {
		panic(http.ErrAbortHandler)
	}
	fmt.Fprint(w, "data: {\"id\":\"1\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}}\n\ndata: [DONE]\n\n")
}

func (m *model) ask(t *testing.T, dir, session, text string) []agentline.Line {
	t.Helper()
	return run(t, Options{BaseURL: m.URL + "/v1", Key: "sk-test", Model: "tiny", System: "Be brief.", Dir: dir}, session, text)
}

func (m *model) options(t *testing.T) Options {
	return Options{BaseURL: m.URL + "/v1", Key: "sk-test", Model: "tiny", System: "Be brief.", Dir: t.TempDir()}
}

func run(t *testing.T, opts Options, session, text string) []agentline.Line {
	t.Helper()
	return runTurn(t, opts, bridge.Turn{Message: text, SessionID: session})
}

func runTurn(t *testing.T, opts Options, said bridge.Turn) []agentline.Line {
	t.Helper()
	turn, err := said.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if opts.wait == nil {
		opts.wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	var out bytes.Buffer
	if err := Run(t.Context(), bytes.NewReader(turn), &out, opts); err != nil {
		t.Fatal(err)
	}
	var lines []agentline.Line
	for line := range bytes.Lines(out.Bytes()) {
		l, err := agentline.Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lines = append(lines, l)
	}
	return lines
}

func TestAnswerIsStreamedWithReasoningAndUsage(t *testing.T) {
	m := newModel(t, `{"role":"assistant","content":""}`, `{"reasoning_content":"hm"}`, `{"content":"Hel"}`, `{"content":"lo"}`)
	lines := m.ask(t, t.TempDir(), "", "hi")
	var types []string
	for _, l := range lines {
		types = append(types, string(l.Type))
	}
	want := []string{"session_init", "run.agent.request_begin", "run.agent.thinking", "run.agent.thinking", "delta", "delta", "run.agent.request_end",
		"run.agent.result", "run.agent.session_metrics", "done"}
	if !slices.Equal(types, want) || lines[4].Content != "Hel" || lines[9].Answer != "Hello" {
		t.Errorf("%q: %+v", types, lines)
	}
	if got := string(lines[7].Payload); got != `{"usage":{"input_tokens":7,"model":"tiny-1","output_tokens":2,"total_tokens":9}}` {
		t.Error(got)
	}
	if !lines[3].Last || lines[3].Fidelity != `{"reasoning_field":"reasoning_content"}` {
		t.Errorf("the reasoning ended with %+v", lines[3])
	}
	if told := ends(t, lines); len(told) != 1 || told[0].Status != event.RequestCompleted {
		t.Errorf("told %+v", told)
	}
	if asked := m.asked[0]; asked.Authorization != "Bearer sk-test" || asked.Model != "tiny" || !asked.Stream {
		t.Errorf("asked %+v", asked)
	}
}

func TestTheSessionSaysWithWhatItsModelRuns(t *testing.T) {
	m, dir := newModel(t, `{"content":"x"}`), t.TempDir()
	begun := m.ask(t, dir, "s", "hi")[0]
	if begun.Model != "tiny" || begun.Provider != strings.TrimPrefix(m.URL, "http://") || begun.SystemPrompt != "Be brief." || begun.Tools != nil {
		t.Errorf("%+v", begun)
	}
	if _, err := os.Stat(begun.AgentState); err != nil || filepath.Dir(begun.AgentState) != dir {
		t.Errorf("keeps the conversation in %q, %v", begun.AgentState, err)
	}
}

func TestEachKindOfReasoningIsABlockOfItsOwn(t *testing.T) {
	m := newModel(t, `{"reasoning_content":"a"}`, `{"reasoning":"b"}`, `{"reasoning":"c","content":"x"}`, `{"reasoning":"d"}`)
	var said []string
	for _, l := range m.ask(t, t.TempDir(), "", "hi") {
		if piece, ok := l.Piece(); ok {
			said = append(said, piece.Text+string(l.Fidelity))
		}
	}
	content, reasoning := `{"reasoning_field":"reasoning_content"}`, `{"reasoning_field":"reasoning"}`
	if want := []string{"a", content, "b", "c", reasoning, "d", reasoning}; !slices.Equal(said, want) {
		t.Errorf("said %q", said)
	}
}

func TestConversationIsRememberedBySession(t *testing.T) {
	m, dir := newModel(t, `{"content":"one"}`), t.TempDir()
	session := m.ask(t, dir, "", "first")[0].SessionID
	if session == "" {
		t.Fatal("no session")
	}
	if again := m.ask(t, dir, session, "second")[0].SessionID; again != session {
		t.Errorf("the session became %q", again)
	}
	want := []message{{"system", "Be brief."}, {roleUser, "first"}, {roleAssistant, "one"}, {roleUser, "second"}}
	if got := m.asked[1].Messages; !slices.Equal(got, want) {
		t.Errorf("sent %+v", got)
	}
	m.ask(t, dir, "another", "third")
	if got := m.asked[2].Messages; len(got) != 2 {
		t.Errorf("another session saw %+v", got)
	}
}

func TestFailedTurnIsNotRemembered(t *testing.T) {
	m, dir := newModel(t, `{"content":"one"}`), t.TempDir()
	m.cut = true
	lines := m.ask(t, dir, "s", "first")
	if last := lines[len(lines)-1]; last.Type != agentline.Error || !last.Retryable {
		t.Errorf("the last line is %+v", last)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
		t.Errorf("kept %q", files)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	cases := []struct {
		status     int
		body       string
		code, text string
		retryable  bool
	}{
		{401, `{"error":{"message":"bad key"}}`, "permission_denied", "Check OPENAI_API_KEY. It says: bad key", false},
		{404, `{"error":{"message":"no"}}`, "invalid_input", `has no model "tiny"`, false},
		{400, `{"error":{"code":"context_length_exceeded","message":"long"}}`, "context_exceeded", "Begin a new one.", false},
		{422, `{}`, "invalid_input", "status 422", false},
		{429, `{"error":{"message":"slow down"}}`, "rate_limit", "slow down", true},
		{503, `busy`, "overloaded", "status 503", true},
	}
	for _, c := range cases {
		m := newModel(t)
		m.status, m.body = c.status, c.body
		lines := m.ask(t, t.TempDir(), "", "hi")
		last := lines[len(lines)-1]
		if last.ErrorCode != c.code || !strings.Contains(last.ErrorMessage, c.text) || last.Retryable != c.retryable {
			t.Errorf("%d: %+v", c.status, last)
		}
		if strings.Contains(last.ErrorMessage, "sk-test") {
			t.Errorf("%d: the key is in %q", c.status, last.ErrorMessage)
		}
	}
}

func TestEndpointThatIsNotThereIsNamedWithoutItsSecrets(t *testing.T) {
	m := newModel(t)
	address := strings.Replace(m.URL, "http://", "http://user:hidden@", 1)
	m.Close()
	lines := run(t, Options{BaseURL: address, Model: "tiny", Dir: t.TempDir()}, "", "hi")
	last := lines[len(lines)-1]
	if last.ErrorCode != "dependency_fail" || strings.Contains(last.ErrorMessage, "hidden") || !strings.Contains(last.ErrorMessage, "127.0.0.1:") {
		t.Errorf("%+v", last)
	}
}

func TestWithoutAModelTheTurnFailsWithWhatToSet(t *testing.T) {
	lines := run(t, Options{Dir: t.TempDir()}, "", "hi")
	if len(lines) != 1 || !strings.Contains(lines[0].ErrorMessage, "OPENAI_MODEL") {
		t.Errorf("%+v", lines)
	}
}

func TestAttachmentsAloneAreNoQuestionToAModelThatReadsText(t *testing.T) {
	m := newModel(t, `{"content":"x"}`)
	lines := runTurn(t, Options{BaseURL: m.URL, Model: "tiny", Dir: t.TempDir()}, bridge.Turn{
		Attachments: []bridge.Attachment{{Kind: "image", URL: "https://example.org/a.png"}},
	})
	if len(lines) != 1 || lines[0].ErrorCode != "empty_prompt" || len(m.asked) > 0 {
		t.Errorf("said %+v, asked %d times", lines, len(m.asked))
	}
}

func TestEndpointWithoutAKeyGetsNone(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-somebody-else")
	m := newModel(t, `{"content":"x"}`)
	run(t, Options{BaseURL: m.URL, Model: "tiny", Dir: t.TempDir()}, "", "hi")
	if got := m.asked[0].Authorization; got != "" {
		t.Errorf("sent %q", got)
	}
}

func TestStopIsAnErrorOfTheTurn(t *testing.T) {
	m := newModel(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	err := Run(ctx, strings.NewReader(`{"type":"turn","message":"hi"}`), io.Discard, Options{BaseURL: m.URL, Model: "tiny", Dir: t.TempDir()})
	if err == nil {
		t.Error("no error")
	}
}

func TestMemoryIsBoundedPrivateAndRefusesDamage(t *testing.T) {
	memory := memoryOf(t.TempDir(), "../../etc/passwd")
	var all []message
	for range 400 {
		all = append(all, message{roleUser, strings.Repeat("q", 500)}, message{roleAssistant, strings.Repeat("a", 500)})
	}
	if err := memory.save(all); err != nil {
		t.Fatal(err)
	}
	kept, err := memory.load()
	if err != nil || len(kept) != hard.messages || kept[0].Role != roleUser {
		t.Errorf("%d messages, error %v", len(kept), err)
	}
	if info, err := os.Stat(memory.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if kept := newest([]message{{roleUser, strings.Repeat("q", hard.bytes)}, {roleAssistant, "a"}}); len(kept) != 0 {
		t.Errorf("kept an answer without its question: %d", len(kept))
	}
	if err := os.WriteFile(memory.path, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := memory.load(); err == nil {
		t.Error("a damaged memory was read")
	}
}
