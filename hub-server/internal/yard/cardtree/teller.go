package cardtree

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Teller tells cards where nothing can be drawn again: a line for each thing that ends, and for each that asks.
type Teller struct {
	Style screen.Style
}

// Tell is the line of an event that the forest has taken; "" for one that ends nothing.
func (t Teller) Tell(f *client.CardForest, e card.Event) string {
	switch e.Type {
	case card.Close:
		return t.ended(f, e.Envelope.CardID)
	case card.Add:
		if e.Envelope.CardKind == card.System { // it never ends
			return t.ended(f, e.Envelope.CardID)
		}
	case card.PromptUser:
		return t.asked(f, e)
	case card.PromptReply:
		return t.replied(e)
	case card.SessionEvent:
		if forgets(e) {
			return row{}.with(t.Style.Yellow, "●").with(t.Style.Dim, "what was before is not kept any more; here is what comes from now on").String()
		}
	}
	return ""
}

// ended is a card with what came of it, as deep as it stands.
func (t Teller) ended(f *client.CardForest, cardID string) string {
	c := f.Card(cardID)
	if c == nil {
		return ""
	}
	d := &drawing{Tree: Tree{Style: t.Style}, forest: f}
	left, right := d.head(c)
	line := slices.Concat(left, right)
	line = line.whole(nil, c.Text(card.TextChannel))
	if said := result(c); said != "" {
		line = line.with(t.Style.Dim, "→ "+screen.Line(said, 2*shortened))
	}
	return strings.Repeat("  ", depth(f, c)) + line.with(t.Style.Red, failure(c)).String()
}

// depth is below how many cards one stands.
func depth(f *client.CardForest, c *client.Card) int {
	const deepest = 20 // further in nobody would see it
	n := 0
	for above := f.Card(c.Parent); above != nil && n < deepest; above = f.Card(above.Parent) {
		n++
	}
	return n
}

func (t Teller) asked(f *client.CardForest, e card.Event) string {
	var p card.PromptPayload
	if json.Unmarshal(e.Payload, &p) != nil {
		return ""
	}
	known := f.Prompt(id.Request(p.RequestID))
	if known == nil {
		return ""
	}
	question := ask(known)
	_, command := question.parts()
	return row{}.with(t.Style.Yellow, "? "+asker(f, known)+" asks to").with(nil, question.line).
		with(t.Style.Dim, "— answer with: "+command).String()
}

func (t Teller) replied(e card.Event) string {
	var p card.ReplyPayload
	if json.Unmarshal(e.Payload, &p) != nil {
		return ""
	}
	look := map[card.ReplyDecision]func(string) string{card.Approved: t.Style.Green, card.Denied: t.Style.Red, card.TimedOut: t.Style.Red}[p.Decision]
	return row{}.with(look, cmp.Or(outcomes[p.Decision], string(p.Decision))).with(nil, p.Reason).with(t.Style.Dim, p.RequestID).String()
}
