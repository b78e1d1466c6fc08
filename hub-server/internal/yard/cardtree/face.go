package cardtree

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// shortened is how much is shown of what a tool takes and gives, and of other things that may be long.
const shortened = 100 // runes

var icons = map[card.Kind]string{
	card.Turn: "▶", card.Message: "✎", card.Tool: "⚙", card.Agent: "◆", card.Plan: "≡", card.Step: "→", card.Artifact: "+", card.Thinking: "∴",
	card.MemoryOp: "▤", card.Budget: "$", card.Todo: "☐", card.Team: "&", card.System: "!",
}

// head is the first line of a card: what it is at the left, how it stands at the right.
func (d *drawing) head(c *client.Card) (left, right row) {
	s := d.Style
	look, title := s.Cyan, s.Bold
	switch {
	case c.Status == card.Failed || c.Severity == card.Error:
		look, title = s.Red, s.Red
	case c.Severity == card.Warn:
		look, title = s.Yellow, s.Yellow
	}
	left = row{}.with(look, cmp.Or(icons[c.Kind], "•"))
	switch c.Kind { // those whose title says what they are, or that need none
	case card.Turn, card.Message, card.Thinking, card.System:
	default:
		left = left.with(s.Dim, string(c.Kind))
	}
	left = left.with(title, cmp.Or(c.Hint.Title, text(c, "name"), string(c.Kind)))
	return left.with(s.Dim, detail(c)), d.standing(c)
}

// standing says how a card stands, and how long it has taken.
func (d *drawing) standing(c *client.Card) row {
	s := d.Style
	switch c.Status {
	case client.CardOpen:
		return d.soFar(c)
	case card.OK:
		return row{}.with(s.Green, "✓").with(s.Dim, cost(c))
	case card.Failed:
		return row{}.with(s.Red, "✗ failed").with(s.Dim, cost(c))
	case card.Cancelled:
		return row{}.with(s.Yellow, "■ cancelled").with(s.Dim, cost(c))
	}
	return row{}.with(s.Dim, "– "+string(c.Status)).with(s.Dim, cost(c))
}

func (d *drawing) soFar(c *client.Card) row {
	var r row
	phase := card.Phase(text(c, "phase"))
	switch {
	case phase == card.PermissionWait:
		r = r.with(d.Style.Yellow, "? waits for permission")
	case d.waiting[c.ID]:
		r = r.with(d.Style.Yellow, "? waits for an answer")
	case c.Kind == card.Tool && phase != card.Executing:
		r = r.with(d.Style.Dim, cmp.Or(text(c, "phase_hint"), string(phase)))
	}
	if !underWay(c) || d.Now.IsZero() || c.OpenedAt.IsZero() {
		return r
	}
	return r.with(d.Style.Dim, "… "+lasted(max(d.Now.Sub(c.OpenedAt), 0)))
}

// lasted is for how long something has been going on, which nobody wants to see change more often than every second.
func lasted(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return screen.Took(d)
}

// cost is how long a card took, and what of money it is known to have cost.
func cost(c *client.Card) string {
	took := c.UpdatedAt.Sub(c.OpenedAt)
	if c.Metrics != nil && c.Metrics.DurationMS > 0 {
		took = time.Duration(c.Metrics.DurationMS) * time.Millisecond
	}
	var parts []string
	if card.Lookup(c.Kind).Tracked() && took > 0 {
		parts = append(parts, screen.Took(took))
	}
	if c.Metrics != nil && c.Metrics.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", c.Metrics.CostUSD))
	}
	return strings.Join(parts, " ")
}

// detail is what is worth knowing of a card beside its title.
func detail(c *client.Card) string {
	about := map[card.Kind]func(*client.Card) string{
		card.Tool: called, card.Plan: planned, card.Artifact: file, card.Budget: spent,
		card.Message:  func(c *client.Card) string { return text(c, "model") },
		card.Agent:    func(c *client.Card) string { return text(c, "task_prompt") },
		card.Step:     func(c *client.Card) string { return given(text(c, "input_summary"), tried(c)) },
		card.MemoryOp: func(c *client.Card) string { return given(text(c, "op"), text(c, "subject"), size(c, "bytes")) },
		card.Todo:     func(c *client.Card) string { return given(text(c, "status"), text(c, "owner")) },
		card.Team:     func(c *client.Card) string { return strings.Join(field[[]string](c, "members"), ", ") },
		card.System:   func(c *client.Card) string { return given(text(c, "summary"), text(c, "action_hint")) },
	}[c.Kind]
	said := ""
	if about != nil {
		said = about(c)
	}
	return screen.Line(cmp.Or(said, c.Hint.Summary), shortened)
}

func called(c *client.Card) string {
	input := c.Payload["input"]
	if intent := text(c, "intent"); intent != "" || len(input) == 0 {
		return intent
	}
	return screen.Arguments(input, shortened)
}

func planned(c *client.Card) string {
	steps := ""
	if n := len(field[[]json.RawMessage](c, "steps")); n > 0 {
		steps = fmt.Sprintf("(%d steps)", n)
	}
	return given(text(c, "goal"), steps)
}

func tried(c *client.Card) string {
	if n := field[int](c, "attempts"); n > 1 {
		return fmt.Sprintf("(tried %d times)", n)
	}
	return ""
}

func file(c *client.Card) string {
	return given(size(c, "size_bytes"), text(c, "mime_type"), text(c, "artifact_id"))
}

func spent(c *client.Card) string {
	of := amount(field[card.Amount](c, "limit"))
	if of != "" {
		of = "of " + of
	}
	return given(text(c, "kind"), amount(field[card.Amount](c, "spent")), of)
}

func amount(a card.Amount) string {
	var parts []string
	if a.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", a.Tokens))
	}
	if a.USD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", a.USD))
	}
	if a.Calls > 0 {
		parts = append(parts, fmt.Sprintf("%d calls", a.Calls))
	}
	return strings.Join(parts, ", ")
}

func size(c *client.Card, name string) string {
	if n := field[int64](c, name); n > 0 {
		return screen.Size(n)
	}
	return ""
}

// given joins what was said.
func given(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " ")
}

func text(c *client.Card, name string) string { return field[string](c, name) }

// field reads a field of a card's payload; what is not there, or not what it must be, is the zero value.
func field[T any](c *client.Card, name string) T {
	var v, none T
	if json.Unmarshal(c.Payload[name], &v) != nil {
		return none
	}
	return v
}
