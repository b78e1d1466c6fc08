// Package cardtree draws the cards of a conversation as a tree of lines for a terminal. Whatever a card says, it can do nothing but show.
package cardtree

import (
	"cmp"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// Tree says how cards are drawn.
type Tree struct {
	Style screen.Style
	Width int       // cells of a line; 0: as many as it takes
	Tail  int       // lines that are shown of a text that still grows; 0: all of them
	Now   time.Time // until which what is open has lasted
}

// Lines are all cards, and behind them the questions that wait.
func (t Tree) Lines(f *client.CardForest) []string {
	var lines []string
	waits := waiting(f)
	for _, root := range f.Roots() {
		drawn, _ := t.draw(f, root, waits)
		lines = append(lines, drawn...)
	}
	return append(lines, t.Questions(f)...)
}

// Root are a card and all that stands below it.
func (t Tree) Root(f *client.CardForest, root *client.Card) []string {
	lines, _ := t.draw(f, root, waiting(f))
	return lines
}

// draw is given who waits for an answer, and says also whether anything is still open.
func (t Tree) draw(f *client.CardForest, root *client.Card, waits map[string]bool) (lines []string, open bool) {
	d := &drawing{Tree: t, forest: f, waiting: waits}
	d.card(root, "", "")
	return d.lines, d.open
}

// drawing is a root that is being drawn.
type drawing struct {
	Tree
	forest  *client.CardForest
	waiting map[string]bool // cards that wait for an answer, by id
	lines   []string
	open    bool
}

// branch is how a card hangs on the one above it: what stands before its first line, and before all that is below.
type branch struct{ first, rest string }

var (
	middle = branch{"├─ ", "│  "}
	last   = branch{"└─ ", "   "}
)

// card draws a card, given what stands before its first line, and before all others.
func (d *drawing) card(c *client.Card, first, rest string) {
	d.open = d.open || underWay(c)
	below := d.forest.Below(c.ID)
	left, right := d.head(c)
	d.row(first, left, right)
	stem := rest + "  "
	if len(below) > 0 {
		stem = rest + "│ "
	}
	d.body(c, stem)
	for i, child := range below {
		hangs := middle
		if i == len(below)-1 {
			hangs = last
		}
		if d.Width > 0 && cells.Width(rest) > d.Width/2 { // as deep as can be seen
			hangs = branch{}
		}
		d.card(child, rest+hangs.first, rest+hangs.rest)
	}
}

// underWay says whether a card is open and will end.
func underWay(c *client.Card) bool {
	return c.Status == client.CardOpen && card.Lookup(c.Kind).Tracked()
}

// row draws one line behind the lines of the tree.
func (d *drawing) row(stem string, left, right row) {
	room := 0
	if d.Width > 0 {
		room = max(d.Width-cells.Width(stem), 1)
	}
	d.lines = append(d.lines, d.Style.Dim(stem)+beside(left, right, room))
}

// line draws one line of a card's body.
func (d *drawing) line(stem string, text row) { d.row(stem, text, nil) }

// maxGrowing is how much of a text that still grows is laid out each time: far more than its last lines.
const maxGrowing = 16 << 10 // bytes

// text draws a text of several lines; keep is how many of the last ones are shown, 0 for all.
func (d *drawing) text(stem, text string, look func(string) string, keep int) {
	above := ""
	if keep > 0 && len(text) > maxGrowing {
		text, above = strings.ToValidUTF8(text[len(text)-maxGrowing:], ""), "… more above"
	}
	lines := d.wrap(screen.Clean(text), cells.Width(stem))
	if hidden := len(lines) - keep; keep > 0 && hidden > 0 {
		lines = lines[hidden:]
		above = cmp.Or(above, more(hidden))
	}
	if above != "" {
		d.line(stem, row{}.with(d.Style.Dim, above))
	}
	for _, line := range lines {
		if look != nil {
			line = look(line)
		}
		d.lines = append(d.lines, d.Style.Dim(stem)+line)
	}
}
