package scout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/contentchain"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer is what scout said to one question.
type answer struct {
	lines  []agentline.Line
	text   string
	report string
	tools  []string
}

func ask(t *testing.T, dir, message string) answer {
	t.Helper()
	var out bytes.Buffer
	if err := Run(t.Context(), turnOf(t, message), &out, Options{Dir: dir, Env: os.Environ()}); err != nil {
		t.Fatal(err)
	}
	return read(t, out.Bytes())
}

func turnOf(t *testing.T, message string) io.Reader {
	t.Helper()
	line, err := bridge.Turn{Message: message}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(line)
}

// read checks what holds for every answer: the lines are of the protocol, calls and results pair, the chain is that of the content.
func read(t *testing.T, out []byte) answer {
	t.Helper()
	var a answer
	var chain contentchain.Chain
	var reported contentchain.Head
	open := ""
	for line := range bytes.Lines(out) {
		l, err := agentline.Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		a.lines = append(a.lines, l)
		thought, isThought := l.Piece()
		switch {
		case isThought:
			chain.Thought(thought.Text)
		case l.Type == agentline.Delta:
			a.text += l.Content
			chain.Text(l.Content)
		case l.Type == agentline.ToolCall:
			if open != "" {
				t.Errorf("%s begins before %s has ended", l.ToolCallID, open)
			}
			open = l.ToolCallID
			a.tools = append(a.tools, l.ToolName)
			must(t, chain.Call(l.ToolName, l.ToolArgs))
		case l.Type == agentline.ToolResult:
			if l.ToolCallID != open {
				t.Errorf("%s ends, %s was open", l.ToolCallID, open)
			}
			open = ""
			if l.Error != nil {
				chain.Failure(string(l.Error.Code), l.Error.Message)
				break
			}
			must(t, chain.Result(l.ToolResult))
		case l.Type == agentline.Artifact:
			a.report = *l.Artifact.Content
			chain.Artifact(event.TextChecksum(a.report))
		case event.Type(l.Type) == event.SessionMetrics:
			reported, _ = contentchain.Reported(l.Payload)
		}
	}
	if reported != chain.Head() {
		t.Errorf("reported %+v, said %+v", reported, chain.Head())
	}
	if last := a.lines[len(a.lines)-1]; last.Type != agentline.Done || last.Answer == "" || !strings.HasSuffix(a.text, last.Answer) {
		t.Errorf("the last line is %s", last.Type)
	}
	return a
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// repository makes a small history whose bytes are the same on every machine.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "init.defaultBranch=main", "-c", "commit.gpgSign=false"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada",
			"GIT_COMMITTER_EMAIL=ada@example.org", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	write := func(name, content string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	git("init", "-q")
	write("README.md", "# Demo\n\nreads <html> | pipes\n")
	git("add", ".")
	git("commit", "-q", "-m", "start | the <project>")
	write("server/http/handler.go", "package http\n\n// ServeThing says hello.\nfunc ServeThing() {}\n"+strings.Repeat("// more\n", 40))
	write("naïve name.txt", "x\n")
	git("add", ".")
	git("commit", "-q", "-m", "server: add a handler", "-m", "It says ```hello```.")
	git("mv", "README.md", "INTRO.md")
	git("commit", "-q", "-m", "docs: rename the readme")
	return dir
}

func TestHistoryIsToldWithItsFacts(t *testing.T) {
	a := ask(t, repository(t), "@scout what changed here in the last 20 commits?")
	for _, want := range []string{
		"The last 3 commits, on 2026-01-02, added 48 lines and removed 0 lines; by Ada (3).", "server/http (1)", "docs: rename the readme",
		"The folder has 3 files", "INTRO.md (1)", "naïve name.txt (1)",
	} {
		if !strings.Contains(a.text, want) {
			t.Errorf("no %q in:\n%s", want, a.text)
		}
	}
	if want := []string{"list_files", "git_log", "git_show", "git_show", "git_show"}; !slices.Equal(a.tools, want) {
		t.Errorf("used %q", a.tools)
	}
	for _, want := range []string{"# Scout report", "start \\| the &lt;project>", "````text\n", "2 files changed"} {
		if !strings.Contains(a.report, want) {
			t.Errorf("no %q in:\n%s", want, a.report)
		}
	}
}

func TestTextComesInSmallPiecesReasoningFirst(t *testing.T) {
	a := ask(t, repository(t), "what changed?")
	if thought, ok := a.lines[0].Piece(); !ok || !strings.HasPrefix(thought.Text, "I am asked:") {
		t.Errorf("the first line is %+v", a.lines[0])
	}
	for _, l := range a.lines {
		if len(l.Content) > 80 {
			t.Errorf("a piece of %d bytes: %q", len(l.Content), l.Content)
		}
	}
}

func TestSameQuestionAboutTheSameRepositoryHasTheSameAnswer(t *testing.T) {
	dir := repository(t)
	first, second := ask(t, dir, "what changed in the last 2 commits?"), ask(t, dir, "what changed in the last 2 commits?")
	if !strings.Contains(first.text, "The last 2 commits") || first.report != second.report || first.text != second.text {
		t.Error(first.text)
	}
}

func TestFilesAndWordsOfTheQuestionAreLookedUp(t *testing.T) {
	a := ask(t, repository(t), "Where is ServeThing in handler.go, and what does missing.py do? Also \"no such phrase\".")
	for _, want := range []string{
		"server/http/handler.go has 44 lines", "last changed 2026-01-02 by Ada: server: add a handler.", "There is no file missing.py here.",
		"“ServeThing” is on 2 lines of 1 file:\n- server/http/handler.go:3  // ServeThing says hello.", "Nothing here mentions “no such phrase”.",
	} {
		if !strings.Contains(a.text, want) {
			t.Errorf("no %q in:\n%s", want, a.text)
		}
	}
}

func TestFolderWithoutGit(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("alpha\nbeta needle_word\n"), 0o600))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe.txt"), 0o600))
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link.txt")))
	a := ask(t, dir, "find needle_word, read notes.txt and link.txt")
	for _, want := range []string{"not a git repository", "The folder has 1 file, mostly .txt (1).", "notes.txt has 2 lines", "notes.txt:2  beta needle_word", "There is no file link.txt here."} {
		if !strings.Contains(a.text, want) {
			t.Errorf("no %q in:\n%s", want, a.text)
		}
	}
}

func TestEmptyFolderAndEmptyRepositoryAreAnsweredWithWhatToDo(t *testing.T) {
	if a := ask(t, t.TempDir(), "hello"); !strings.Contains(a.text, "The folder is empty.") || !strings.Contains(a.text, "EDGE_REPOSITORY") {
		t.Error(a.text)
	}
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a := ask(t, dir, "what changed?")
	if !strings.Contains(a.text, "does not have any commits yet") {
		t.Error(a.text)
	}
	if a := ask(t, filepath.Join(dir, "gone"), "what?"); !strings.Contains(a.text, "no history") {
		t.Error(a.text)
	}
}

func TestWithoutGitInstalledTheFilesAreStillSeen(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("x"), 0o600))
	t.Setenv("PATH", t.TempDir())
	if a := ask(t, dir, "what is here?"); !strings.Contains(a.text, "git is not installed") || !strings.Contains(a.text, ".txt (1)") {
		t.Error(a.text)
	}
}

func TestConfigurationOfTheRepositoryExecutesNothing(t *testing.T) {
	dir := repository(t)
	trap := filepath.Join(dir, "trap.sh")
	must(t, os.WriteFile(trap, []byte("#!/bin/sh\ntouch "+filepath.Join(dir, "sprung")+"\n"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte("* diff=trap\n"), 0o600))
	config, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	fmt.Fprintf(config, "[core]\n\tfsmonitor = %[1]s\n\tpager = %[1]s\n[diff]\n\texternal = %[1]s\n[diff \"trap\"]\n\tcommand = %[1]s\n\ttextconv = %[1]s\n", trap)
	must(t, config.Close())
	ask(t, dir, "what changed, and where is ServeThing in handler.go?")
	if _, err := os.Stat(filepath.Join(dir, "sprung")); err == nil {
		t.Error("the repository's own program ran")
	}
}

func TestStopEndsThePacedAnswer(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := writerFunc(func(p []byte) (int, error) { stop(); return len(p), nil })
	err := Run(ctx, turnOf(t, "what changed?"), out, Options{Dir: t.TempDir(), Pace: time.Hour, Env: os.Environ()})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestClosedOutputEndsTheTurn(t *testing.T) {
	out := writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE })
	if err := Run(t.Context(), turnOf(t, "what changed?"), out, Options{Dir: t.TempDir(), Env: os.Environ()}); !errors.Is(err, syscall.EPIPE) {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWhatIsNoTurnIsAnError(t *testing.T) {
	for _, in := range []string{"", "hello\n", `{"type":"turn","message":""}` + "\n"} {
		if err := Run(t.Context(), strings.NewReader(in), io.Discard, Options{Dir: t.TempDir()}); err == nil {
			t.Errorf("%q was answered", in)
		}
	}
}

func TestQuestions(t *testing.T) {
	cases := []struct {
		text string
		want question
	}{
		{"@scout what changed here in the last 20 commits?", question{text: "what changed here in the last 20 commits?", commits: 20}},
		{"最近 5 次提交改了什么", question{text: "最近 5 次提交改了什么", commits: 5}},
		{"last 99999 commits", question{text: "last 99999 commits", commits: maxCommits}},
		{"what happened today?", question{text: "what happened today?", commits: 20, since: "midnight"}},
		{"who worked in the past 3 days", question{text: "who worked in the past 3 days", commits: 20, since: "3 days ago"}},
		{"look at hub/run.go and the Makefile", question{text: "look at hub/run.go and the Makefile", commits: 20, names: []string{"hub/run.go", "Makefile"}}},
		{"find TurnState and “fast path”", question{text: "find TurnState and “fast path”", commits: 20, words: []string{"fast path", "TurnState"}}},
		{"find the bug", question{text: "find the bug", commits: 20}},
	}
	for _, c := range cases {
		if got := parseQuestion(c.text); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", c.want) {
			t.Errorf("%s\ngot  %#v\nwant %#v", c.text, got, c.want)
		}
	}
}

func FuzzQuestionAndLogNeverPanic(f *testing.F) {
	f.Add("@scout look at a/b.go, the last 3 commits and `x`", []byte("\x1eabc\x1fAda\x1f2026-01-02\x1fsubject\x1f\n1\t2\tname\x00-\t-\t\x00old\x00new\x00"))
	f.Fuzz(func(t *testing.T, text string, log []byte) {
		if q := parseQuestion(text); q.commits < 1 || q.commits > maxCommits || len(q.words) > maxWords {
			t.Fatalf("%+v", q)
		}
		for _, c := range parseLog(log) {
			if _, err := json.Marshal(c); err != nil {
				t.Fatal(err)
			}
		}
	})
}
