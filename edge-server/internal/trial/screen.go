package trial

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Screen is a Witness that tells a turn to a person: the reply on Out, everything else on Err.
type Screen struct {
	Out, Err io.Writer
	Terminal bool // Out is a terminal: reasoning is shown too, dimmed, and no text can do anything but show
	Colour   bool

	mu       sync.Mutex
	open     bool // the last line on Out has no end yet
	thinking bool // and it is reasoning
}

// Said shows the reply as it comes, and what the agent does beside it.
func (s *Screen) Said(e run.AgentEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case run.Delta:
		switch {
		case ofCall[e.Channel] != "": // the call, or its result, shows it whole
		case run.ScopeID(e.Agent) != "": // what a sub-agent says is no part of the reply
			s.within(e)
		default:
			s.text(e.Text, e.Channel == run.Thought)
			if e.Last {
				s.breakLine()
			}
		}
	case run.Done:
		s.text(e.Answer, false)
	case run.StateChange:
		s.aside("state", e.State)
	case run.ToolCall:
		s.aside("tool", fmt.Sprintf("%s %s", e.Name, e.Args))
	case run.ToolResult:
		if e.Error != nil {
			s.aside("tool", fmt.Sprintf("%s failed: %s", e.Name, e.Error.Message))
			return
		}
		s.aside("tool", e.Name+" done")
	case run.Artifact:
		s.aside("file", fmt.Sprintf("%s, %d bytes", e.Filename, e.Size))
	case run.Fact:
		if e.Type != event.SessionInit && e.Type != event.AgentResult { // those are in the summary
			s.aside("fact", string(e.Type))
		}
	}
}

// Unused warns.
func (s *Screen) Unused(line, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line == "" {
		s.aside("warning", reason)
		return
	}
	s.aside("warning", fmt.Sprintf("not an event (%s): %s", reason, clip(line)))
}

// Answered tells what became of a request.
func (s *Screen) Answered(request bridge.PermissionRequest, response bridge.PermissionResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := request.ToolName
	if name == "" {
		name = "request " + request.RequestID
	}
	if response.Behavior == bridge.Allow {
		s.aside("allowed", name)
		return
	}
	s.aside("denied", strings.TrimSpace(name+" "+response.Message))
}

// Settled tells what became of a prompt.
func (s *Screen) Settled(asked runtime.Ask, a runtime.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aside("told", strings.Join(strings.Fields(fmt.Sprintf("%s: %s %s %s", asked.Kind, a.Decision, a.Response, a.Message)), " "))
}

// Printed shows a line of stderr.
func (s *Screen) Printed(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aside("stderr", line)
}

// End tells how the turn ended. again is the command line that continues the session, without its id.
func (s *Screen) End(r Result, again string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breakLine()
	if r.SessionID != "" {
		s.aside("session", fmt.Sprintf("%s (go on with: %s --session %s)", r.SessionID, again, quoted(r.SessionID)))
	}
	if r.Usage != nil {
		s.aside("usage", string(r.Usage))
	}
	if r.Left > 0 {
		s.aside("warning", left(r.Left))
	}
	took := r.Took.Round(time.Millisecond)
	if r.Code != "" {
		s.aside("failed", fmt.Sprintf("%s (%s, exit code %d, after %s)", r.Message, r.Code, r.ExitCode, took))
		return
	}
	s.aside("done", fmt.Sprintf("after %s", took))
}

func left(processes int) string {
	if processes == 1 {
		return "the agent left a process running; it was ended"
	}
	return fmt.Sprintf("the agent left %d processes running; they were ended", processes)
}

// within shows what a sub-agent says.
func (s *Screen) within(d run.Delta) {
	if d.Channel == run.Output && d.Text != "" {
		s.aside(string(d.Agent), d.Text)
	}
}

func (s *Screen) text(text string, thinking bool) {
	if text == "" || (thinking && !s.Terminal) {
		return
	}
	if s.open && s.thinking != thinking {
		s.breakLine()
	}
	s.open, s.thinking = !strings.HasSuffix(text, "\n"), thinking
	if s.Terminal {
		text = printable(text)
	}
	if thinking {
		text = s.dim(text)
	}
	_, _ = io.WriteString(s.Out, text) // a reader that has gone away does not stop the agent
}

// breakLine ends an open line, so that the next thing begins at the left.
func (s *Screen) breakLine() {
	if s.open {
		_, _ = io.WriteString(s.Out, "\n") // see text
	}
	s.open = false
}

// aside is a line beside the reply. It breaks the reply's own line only where both go to the same screen.
func (s *Screen) aside(what, text string) {
	if s.Terminal {
		s.breakLine()
	}
	_, _ = fmt.Fprintln(s.Err, s.dim(fmt.Sprintf("%-7s │", what)), printable(text)) // see text
}

func (s *Screen) dim(text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[2m" + text + "\x1b[0m"
}

// maxShown is how much of a line that is no event is shown, in runes.
const maxShown = 200

func clip(line string) string {
	if runes := []rune(line); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return line
}

// printable is text that cannot do anything to a terminal but show.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.IsControl(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// quoted is a word for a shell.
func quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@%+=-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
