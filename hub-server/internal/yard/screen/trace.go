package screen

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// maxOutput is how many lines of what a tool has put out are shown.
const maxOutput = 8

// TraceTeller shows OmniMessages as a person reads a conversation. Not safe for concurrent use.
type TraceTeller struct {
	out   io.Writer
	style Style
	names map[string]string // of the tools of calls
}

// NewTraceTeller returns a teller that writes to out.
func NewTraceTeller(out io.Writer, style Style) *TraceTeller {
	return &TraceTeller{out: out, style: style, names: map[string]string{}}
}

// Message shows one message. Fragments show nothing: the complete message follows.
func (t *TraceTeller) Message(m omni.Message) error {
	text := t.tell(m)
	if text == "" {
		return nil
	}
	indent := strings.Repeat("  │ ", len(m.Origin()))
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if _, err := fmt.Fprintln(t.out, t.style.Dim(indent)+line); err != nil {
			return err
		}
	}
	return nil
}

func (t *TraceTeller) tell(m omni.Message) string {
	if m.IsPartial() {
		return ""
	}
	body, err := m.Body()
	if err != nil || body == nil {
		return t.style.Dim("(" + Line(string(m.Type())+" "+string(m.PayloadType()), maxInTable) + ")")
	}
	if text, told := t.content(body); told {
		return text
	}
	if text, told := t.work(body); told {
		return text
	}
	return t.event(body)
}

// content is what is said.
func (t *TraceTeller) content(body omni.Payload) (string, bool) {
	switch b := body.(type) {
	case omni.SessionMetaPayload:
		parts := []string{Line(b.SessionID, 80)}
		for _, part := range []string{b.ModelID, b.Workspace} {
			if part != "" {
				parts = append(parts, Line(part, 80))
			}
		}
		return t.style.Dim("── " + strings.Join(parts, " · ") + " ──"), true
	case omni.TextPayload:
		return t.said(b), true
	case omni.ThinkingPayload:
		return t.style.Dim(Clean(b.Thinking)), true
	case omni.ImageURLPayload:
		return t.style.Dim("(image " + address(b.ImageURL) + ")"), true
	case omni.InlineDataPayload:
		return t.style.Dim("(" + Line(b.MIMEType, 40) + ", " + Size(int64(len(b.Data))) + " in base64)"), true
	case omni.InlineThinkingPayload:
		return t.style.Dim("(reasoning as " + Line(b.MIMEType, 40) + ")"), true
	}
	return "", false
}

// address is a URL as far as it says anything: of one with the data in it, the type.
func address(url string) string {
	if head, _, found := strings.Cut(url, ";base64,"); found {
		return Line(strings.TrimPrefix(head, "data:"), 40) + ", " + Size(int64(len(url)))
	}
	return Line(url, 120)
}

func (t *TraceTeller) said(b omni.TextPayload) string {
	who := t.style.Name("agent")
	if b.Role == omni.User {
		who = t.style.Bold("you")
	}
	return who + ": " + Clean(b.Text) + t.ended(b.StopReason)
}

// ended says how something ended that did not end well.
func (t *TraceTeller) ended(reason omni.StopReason) string {
	if reason == "" || reason == omni.Completed {
		return ""
	}
	return t.style.Yellow(" [" + Line(string(reason), 20) + "]")
}

// work is what tools do.
func (t *TraceTeller) work(body omni.Payload) (string, bool) {
	switch b := body.(type) {
	case omni.ToolCallPayload:
		t.names[b.ToolCallID] = b.Name
		return t.style.Cyan("→ "+Line(b.Name, 40)) + " " + Arguments(json.RawMessage(b.Arguments), 120) + t.ended(b.StopReason), true
	case omni.ToolCallOutputPayload:
		return t.output(b), true
	case omni.ApprovalDecisionPayload:
		word := "allowed"
		if b.Decision != omni.Allow {
			word = "denied"
		}
		return t.style.Yellow(word + ": " + Line(t.named(b.ToolCallID), 40)), true
	case omni.SubagentPayload:
		return t.style.Dim("sub-agent " + Line(b.SessionID, 80)), true
	}
	return "", false
}

func (t *TraceTeller) named(call string) string {
	if name := t.names[call]; name != "" {
		return name
	}
	return call
}

func (t *TraceTeller) output(b omni.ToolCallOutputPayload) string {
	var lines []string
	if text := strings.TrimRight(Clean(b.Output), "\n"); text != "" {
		lines = strings.Split(text, "\n")
	}
	if more := len(lines) - maxOutput; more > 0 {
		lines = append(lines[:maxOutput], fmt.Sprintf("… %d more lines", more))
	}
	for i, line := range lines {
		lines[i] = "  " + t.style.Dim(line)
	}
	if len(b.Images) > 0 {
		lines = append(lines, t.style.Dim(fmt.Sprintf("  (images: %d)", len(b.Images))))
	}
	head := t.style.Cyan("← "+Line(t.named(b.ToolCallID), 40)) + t.ended(b.StopReason)
	return strings.Join(append([]string{head}, lines...), "\n")
}

// event is what happens beside it, as far as a person wants to know.
func (t *TraceTeller) event(body omni.Payload) string {
	switch b := body.(type) {
	case omni.RequestEndPayload:
		return t.request(b)
	case omni.TokenUsagePayload:
		return t.style.Dim(fmt.Sprintf("%d tokens, %d in all", b.Request.Total, b.Session.Total))
	case omni.CompactionBeginPayload:
		return t.style.Dim("the context is made smaller (" + Line(string(b.Reason), 20) + ")")
	case omni.CompactionEndPayload:
		if b.Status != omni.Completed {
			return t.style.Yellow("the context stays as it is: " + Line(string(b.Status)+" "+b.ErrorMessage, 200))
		}
	case omni.AbortPayload:
		return t.style.Yellow("stopped " + Line(b.Reason, 200))
	}
	return ""
}

func (t *TraceTeller) request(b omni.RequestEndPayload) string {
	if b.Status == omni.Completed {
		return ""
	}
	text := "the model's request ended: " + Line(string(b.Status)+" "+b.ErrorMessage, 200)
	if b.RetryInMS != nil {
		text += fmt.Sprintf("; made again in %g s", float64(*b.RetryInMS)/1000)
	}
	return t.style.Yellow(text)
}
