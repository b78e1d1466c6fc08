package cardtree

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/card"
)

const (
	narrowest = 10 // cells of a text, however deep it stands
	maxNotes  = 3  // of a card, the newest
)

// body draws what a card says: its text, what came of it, what it signals.
func (d *drawing) body(c *client.Card, stem string) {
	open := c.Status == client.CardOpen
	d.thoughts(c, stem)
	if said := strings.TrimSpace(c.Text(card.TextChannel)); said != "" {
		keep := 0
		if open {
			keep = d.Tail
		}
		d.text(stem, said, nil, keep)
	}
	if arguments := c.Text(card.ToolInputChannel); open && arguments != "" {
		d.line(stem, row{}.with(d.Style.Dim, "writes "+newest(arguments)))
	}
	if result := result(c); result != "" {
		d.line(stem, row{}.with(d.Style.Dim, "→ "+screen.Line(result, 2*shortened)))
	}
	if why := failure(c); why != "" {
		d.text(stem, why, d.Style.Red, 0)
	}
	d.ticks(c, stem)
}

// thoughts are shown while they come; later as little as says that there were some.
func (d *drawing) thoughts(c *client.Card, stem string) {
	thought := strings.TrimSpace(c.Text(card.ThinkingChannel))
	switch {
	case thought == "":
	case c.Status == client.CardOpen && c.Text(card.TextChannel) == "":
		d.text(stem, thought, d.Style.Dim, d.Tail)
	default:
		d.line(stem, row{}.with(d.Style.Dim, icons[card.Thinking]+" "+screen.Line(thought, shortened)))
	}
}

// newest is the end of a text that still grows, on one line.
func newest(text string) string {
	runes := []rune(strings.Join(strings.Fields(screen.Clean(text)), " "))
	if len(runes) > shortened {
		return "…" + string(runes[len(runes)-shortened:])
	}
	return string(runes)
}

// result is what came of a card.
func result(c *client.Card) string {
	if c.Status == client.CardOpen {
		return ""
	}
	return cmp.Or(text(c, "output"), text(c, "output_summary"))
}

// failure says why a card has failed: to the person, and for whoever looks into it.
func failure(c *client.Card) string {
	e := c.Error()
	if e == nil {
		return ""
	}
	why := given(e.UserMessage, "("+string(e.Type)+")")
	if e.Message != "" && e.Message != e.UserMessage {
		why = given(e.UserMessage, "("+string(e.Type)+": "+e.Message+")")
	}
	return screen.Line(why, 3*shortened)
}

// ticks draws the newest sign of life of what is open on one line, and the notes.
func (d *drawing) ticks(c *client.Card, stem string) {
	var alive string
	var notes []row
	for _, tick := range c.Ticks {
		body, err := tick.Body()
		if err != nil {
			continue
		}
		switch t := body.(type) {
		case *card.ProgressTick:
			alive = progress(*t)
		case *card.HeartbeatTick:
			alive = t.Stage
		case *card.IntentTick:
			notes = append(notes, row{}.with(d.Style.Dim, "┆ "+t.Intent))
		case *card.NoteTick:
			notes = append(notes, row{}.with(d.severe(t.Severity), "┆ "+t.Text))
		case *card.EscalationTick:
			notes = append(notes, row{}.with(d.Style.Yellow, "┆ "+given(t.FromMode, "→", t.ToMode, t.Reason)))
		}
	}
	for _, note := range notes[max(len(notes)-maxNotes, 0):] {
		d.line(stem, note)
	}
	if alive != "" && c.Status == client.CardOpen {
		d.line(stem, row{}.with(d.Style.Cyan, alive))
	}
}

func (d *drawing) severe(s card.Severity) func(string) string {
	switch s {
	case card.Error:
		return d.Style.Red
	case card.Warn:
		return d.Style.Yellow
	}
	return d.Style.Dim
}

// progress is a bar, how much is done, and how long it will take.
func progress(p card.ProgressTick) string {
	const bar = 10
	var parts []string
	if share := min(max(p.ProgressPct, 0), 1); share > 0 && !math.IsNaN(share) {
		done := int(share * bar)
		parts = append(parts, strings.Repeat("━", done)+strings.Repeat("─", bar-done), fmt.Sprintf("%.0f %%", share*100))
	}
	switch {
	case p.ItemsTotal > 0:
		parts = append(parts, given(fmt.Sprintf("%d/%d", p.ItemsProcessed, p.ItemsTotal), p.Unit))
	case p.ItemsProcessed > 0:
		parts = append(parts, given(fmt.Sprint(p.ItemsProcessed), p.Unit))
	}
	if p.Stage != "" {
		parts = append(parts, p.Stage)
	}
	if p.ETAMS > 0 {
		parts = append(parts, "about "+screen.Took(time.Duration(p.ETAMS)*time.Millisecond)+" left")
	}
	return strings.Join(parts, " ")
}

// more says that lines were left out.
func more(n int) string {
	if n == 1 {
		return "… 1 line above"
	}
	return fmt.Sprintf("… %d lines above", n)
}

// wrap breaks a text into lines that fit behind what takes so many cells; without a width, where the text itself breaks.
func (t Tree) wrap(text string, behind int) []string {
	if t.Width == 0 {
		return strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	}
	return cells.Wrap(text, max(t.Width-behind, narrowest))
}

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}
