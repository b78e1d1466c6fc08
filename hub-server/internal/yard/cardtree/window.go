package cardtree

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/card"
)

const live = "● live"

// tail is how many lines are shown of a text that still grows.
const tail = 8

// Window shows as much of the cards of a conversation as a screen has room for: the newest lines, or those that somebody has scrolled to. It does
// nothing itself. Not safe for concurrent use.
type Window struct {
	name  string
	style screen.Style
	now   func() time.Time

	twin          *Twin
	drawn         map[string]drawnRoot // by id; what has changed is not among them
	width, height int
	held          bool // somebody has scrolled: what comes does not move the screen
	top           int  // the line at the top, if held
	link          string
}

// drawnRoot is how a root was drawn last.
type drawnRoot struct {
	lines []string
	open  bool // something of it is under way: it is drawn anew each time
}

// NewWindow returns a window without a size.
func NewWindow(name string, style screen.Style, now func() time.Time) *Window {
	return &Window{name: name, style: style, now: now, twin: NewTwin(), drawn: map[string]drawnRoot{}, link: "○ connecting"}
}

// Resize gives it another size.
func (w *Window) Resize(width, height int) {
	w.width, w.height = max(width, 1), max(height, 1)
	clear(w.drawn)
}

// Update takes what a feed tells.
func (w *Window) Update(u client.CardUpdate) {
	switch u.Link {
	case client.LinkUp:
		w.link = live
	case client.LinkDown:
		w.link = "○ " + Lost(u.Err)
	}
	if u.Event == nil {
		return
	}
	if forgets(*u.Event) {
		w.link += "; what was before is not kept any more"
	}
	cardID, forest := u.Event.Envelope.CardID, w.twin.forest
	moved := u.Event.Type == card.Add && forest.Card(cardID) != nil
	w.twin.Take(u)
	if moved || u.Event.Type == card.SessionEvent {
		clear(w.drawn)
	}
	delete(w.drawn, root(forest, cardID))
}

// Lost says that the link is down, given why.
func Lost(err error) string {
	if code := client.CodeOf(err); code != "" {
		return "the hub lets nobody in right now (" + screen.Line(string(code), shortened) + "); trying again"
	}
	return "connection lost; trying again"
}

// forgets says whether the hub tells that it cannot go on from where it was.
func forgets(e card.Event) bool {
	var p card.SessionPayload
	return e.Type == card.SessionEvent && json.Unmarshal(e.Payload, &p) == nil && p.Kind == card.ResumeFailed
}

// root is the id of the card at the root above a card.
func root(f *client.CardForest, cardID string) string {
	seen := map[string]bool{}
	for c := f.Card(cardID); c != nil && f.Card(c.Parent) != nil && !seen[c.ID]; c = f.Card(c.Parent) {
		seen[c.ID] = true
		cardID = c.Parent
	}
	return cardID
}

// Key does what a key means, and says whether that is to leave.
func (w *Window) Key(name string) (leave bool) {
	page := max(w.height-2, 1)
	switch name {
	case "q", "ctrl+c", "ctrl+q":
		return true
	case "up", "k":
		w.scroll(-1)
	case "down", "j":
		w.scroll(1)
	case "pgup", "b":
		w.scroll(-page)
	case "pgdown", "space", " ":
		w.scroll(page)
	case "home", "g":
		w.held, w.top = true, 0
	case "end", "G":
		w.held = false
	}
	return false
}

// scroll moves the screen by n lines; at the end it goes along with what comes again.
func (w *Window) scroll(n int) {
	end := w.end(w.blocks())
	if !w.held {
		w.top = end
	}
	w.top = max(min(w.top, end)+n, 0)
	w.held = w.top < end
}

// room is how many lines of cards the screen has.
func (w *Window) room() int { return max(w.height-1, 1) }

// end is the line at the top when the newest one is at the bottom.
func (w *Window) end(blocks [][]string) int {
	total := 0
	for _, b := range blocks {
		total += len(b)
	}
	return max(total-w.room(), 0)
}

// blocks are the lines of each root, and those of the questions.
func (w *Window) blocks() [][]string {
	tree := Tree{Style: w.style, Width: w.width, Tail: tail, Now: w.now()}
	waits := waiting(w.twin.forest)
	var blocks [][]string
	for _, c := range w.twin.forest.Roots() {
		known, ok := w.drawn[c.ID]
		if !ok || known.open {
			known.lines, known.open = tree.draw(w.twin.forest, c, waits)
			w.drawn[c.ID] = known
		}
		blocks = append(blocks, known.lines)
	}
	if len(blocks) == 0 {
		blocks = append(blocks, []string{w.style.Dim("no cards yet")})
	}
	return append(blocks, tree.Questions(w.twin.forest))
}

// View is what the screen shows.
func (w *Window) View() string {
	if w.height == 0 {
		return ""
	}
	blocks := w.blocks()
	top := w.end(blocks)
	if w.held {
		top = min(w.top, top)
	}
	lines := window(blocks, top, w.room())
	if w.height > 1 {
		lines = append(lines, slices.Repeat([]string{""}, w.height-1-len(lines))...)
		lines = append(lines, w.bottom())
	}
	return strings.Join(lines, "\n")
}

// window are up to room lines from the line top on.
func window(blocks [][]string, top, room int) []string {
	lines := make([]string, 0, room+1)
	for _, b := range blocks {
		if top >= len(b) {
			top -= len(b)
			continue
		}
		b = b[top:]
		top = 0
		lines = append(lines, b[:min(len(b), room-len(lines))]...)
		if len(lines) == room {
			break
		}
	}
	return lines
}

// bottom is the last line: how the connection is, and the keys.
func (w *Window) bottom() string {
	look := w.style.Yellow
	if strings.HasPrefix(w.link, live) {
		look = w.style.Green
	}
	left := row{}.with(w.style.Bold, w.name).with(look, w.link)
	right := row{}.with(w.style.Dim, "↑↓ PgUp PgDn scroll  q quits")
	if w.held {
		right = row{}.with(w.style.Yellow, "End follows").with(w.style.Dim, "↑↓ scroll  q quits")
	}
	if gap := w.width - left.width() - right.width(); gap > 0 {
		return left.String() + strings.Repeat(" ", gap) + right.String()
	}
	return left.cut(w.width).String()
}

// Rest is what is left to read when the window is closed: the newest root, and the questions.
func (w *Window) Rest() []string {
	tree := Tree{Style: w.style, Width: w.width, Now: w.now()}
	roots := w.twin.forest.Roots()
	var lines []string
	if len(roots) > 0 {
		lines = tree.Root(w.twin.forest, roots[len(roots)-1])
	}
	return append(lines, tree.Questions(w.twin.forest)...)
}
