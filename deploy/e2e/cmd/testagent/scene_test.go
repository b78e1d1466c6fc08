package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

var update = flag.Bool("update", false, "write the golden files again")

// answers are what the person says in the scenes that ask.
var answers = map[string]string{
	"plan":       `{"type":"prompt_response","request_id":"plan","decision":"allow"}`,
	"question":   `{"type":"prompt_response","request_id":"question","decision":"allow","response":{"selected_options":["是"]}}`,
	"permission": `{"type":"permission_response","request_id":"permission","behavior":"allow"}`,
	"page":       `{"type":"tool_result","tool_call_id":"toolu_c1","tool_name":"open_url","status":"ok","output":"A page"}`,
	"listening": `{"type":"steer","steer_id":"steer_0000000000000001","text":"Only Go."}` + "\n" + `{"type":"compact"}` + "\n" +
		`{"type":"retry_now"}` + "\n" + `{"type":"steer","steer_id":"steer_0000000000000002","text":"Enough."}`,
	"patience": `{"type":"steer","steer_id":"steer_0000000000000001","text":"Hurry."}` + "\n" + `{"type":"retry_now"}`,
	"decision": `{"type":"prompt_response","request_id":"decision-1","decision":"retry"}` + "\n" +
		`{"type":"prompt_response","request_id":"decision-2","decision":"continue"}`,
}

func playScene(t *testing.T, message, session, answer string) []byte {
	t.Helper()
	in := fmt.Sprintf(`{"type":"turn","message":%q,"session_id":%q,"protocol_version":"0.4","permission":true}`, message, session) + "\n" + answer + "\n"
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--scenes", "--pace", "0s"}, strings.NewReader(in), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestScenesSayWhatTheyAreKnownFor(t *testing.T) {
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			said := playScene(t, "Please: "+s.word+" now.", "", answers[s.name])
			for line := range bytes.Lines(said) {
				l, err := agentline.Parse(line)
				if err != nil {
					t.Errorf("%s: %v", line, err)
				}
				if err := event.CheckFact(event.Type(l.Type), l.Payload); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
			golden := filepath.Join("testdata", s.name+".ndjson")
			if *update {
				if err := os.WriteFile(golden, said, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(said, want) {
				t.Errorf("said\n%s\nwant\n%s", said, want)
			}
		})
	}
}

func TestASceneIsTakenUpByItsSession(t *testing.T) {
	again := playScene(t, "(an answer has come)", "scene-question", answers["question"])
	if want := playScene(t, "Ask me", "", answers["question"]); !bytes.Equal(again, want) {
		t.Errorf("said\n%s\nwant\n%s", again, want)
	}
	if said := playScene(t, "What?", "", ""); !bytes.Contains(said, []byte("Hello")) {
		t.Errorf("without a word it said %s", said)
	}
}

func TestATurnThatOnlyCompactsPlaysNoScene(t *testing.T) {
	var out bytes.Buffer
	turn := `{"type":"turn","message":"","session_id":"scene-question","compact":true,"protocol_version":"0.4"}` + "\n"
	if err := run(t.Context(), []string{"--scenes"}, strings.NewReader(turn), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"scene-question", "run.agent.compaction_begin", "They talked.", "run.agent.compaction_end", `"done"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}

func TestASceneTakesItsCue(t *testing.T) {
	cue := filepath.Join(t.TempDir(), "cue")
	heard, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		turn := strings.NewReader(`{"type":"turn","message":"Hi","session_id":"","protocol_version":"0.4"}` + "\n")
		err := run(t.Context(), []string{"--scenes", "--cue", cue}, turn, out, io.Discard)
		done <- errors.Join(err, out.Close())
	}()
	said := bufio.NewScanner(heard)
	for said.Scan() && !strings.Contains(said.Text(), "Hello") {
	}
	if err := os.WriteFile(cue, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !said.Scan() || !strings.Contains(said.Text(), " World!") {
		t.Errorf("after the cue it said %q", said.Text())
	}
	for said.Scan() {
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(cue); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cue is left: %v", err)
	}
}

func TestAPlanThatWasChangedOrRejected(t *testing.T) {
	changed := playScene(t, "调研", "", `{"type":"prompt_response","request_id":"plan","decision":"allow","response":{"updated_steps":[{"id":"only","subagent_type":"writer"}]}}`)
	if !bytes.Contains(changed, []byte(`"steps":[{"step_id":"only","subagent_type":"writer"}]`)) {
		t.Errorf("a plan that was changed is carried out as\n%s", changed)
	}
	rejected := playScene(t, "调研", "", `{"type":"prompt_response","request_id":"plan","decision":"deny","reason":"No."}`)
	if bytes.Contains(rejected, []byte("run.agent.plan")) || !bytes.Contains(rejected, []byte("The plan was rejected: No.")) {
		t.Errorf("a plan that was rejected goes on as\n%s", rejected)
	}
}
