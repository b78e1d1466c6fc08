package runtime_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

// example returns the bench of an agent of examples/agents. Its interpreter may be missing on this machine.
func example(t *testing.T, name string) *bench {
	t.Helper()
	f := profile.ReadFile(filepath.Join("..", "..", "..", "examples", "agents", name+".yaml"), profile.Edge{Lookup: os.LookupEnv})
	if f.Problems.Faulty() {
		t.Fatal(f.Problems)
	}
	if _, err := exec.LookPath(f.Profile.Command); err != nil {
		t.Skipf("no %s on this machine", f.Profile.Command)
	}
	if len(f.Problems) > 0 {
		t.Error(f.Problems)
	}
	b := newBench(t, profile.Bridge)
	b.profile = f.Profile
	return b
}

const awkward = "a \"quoted\" \\ back\tslash, é and 漢字, {\"message\":\"x\"} %s $HOME"

func TestExampleInShell(t *testing.T) {
	b := example(t, "echo-sh")
	b.prompt = awkward
	tr := b.play(t)
	if text := tr.text(); !strings.HasPrefix(text, "You said: "+awkward+" (on ") || tr.last() != "done " {
		t.Errorf("said %q, then %q", text, tr.lines)
	}
}

func TestExampleInPythonGoesOnWithItsSession(t *testing.T) {
	b := example(t, "counter-python")
	b.prompt = awkward
	b.profile.Cwd = t.TempDir()
	first := b.play(t)
	if text := first.text(); text != "Turn 1: "+awkward || first.last() != "done " {
		t.Errorf("said %q, then %q", text, first.lines)
	}
	const marker = `fact run.agent.session_init {"agent_session_id":"`
	if !strings.HasPrefix(first.lines[0], marker) {
		t.Fatalf("no session in %q", first.lines)
	}
	b.session = admission.AgentSession(strings.TrimSuffix(strings.TrimPrefix(first.lines[0], marker), `"}`))
	if second := b.play(t); second.text() != "Turn 2: "+awkward {
		t.Errorf("said %q", second.lines)
	}
}

func TestExampleInNode(t *testing.T) {
	b := example(t, "words-node")
	b.prompt = "one two  three"
	b.play(t).must(t, "text one ", "text two ", "text three ", `fact run.agent.result {"usage":{"output_tokens":3},"exit_code":0}`, "done ")
	b.prompt = "fail"
	b.play(t).must(t, "failure agent_error: I was told to fail.")
}

func (tr transcript) last() string { return tr.lines[len(tr.lines)-1] }

func (tr transcript) text() string {
	var text strings.Builder
	for _, line := range tr.lines {
		if piece, ok := strings.CutPrefix(line, "text "); ok {
			text.WriteString(piece)
		}
	}
	return text.String()
}
