// Package screen turns what a hub says into text for a person: colours, tables, and the running story of a conversation.
package screen

import (
	"hash/fnv"
	"io"
	"os"

	"golang.org/x/term"
)

// Style colours text, or leaves it alone. Its zero value leaves it alone.
type Style struct {
	on bool
}

// Coloured returns a style that colours.
func Coloured() Style { return Style{on: true} }

// StyleFor colours only on a terminal that wants it: not with --no-color (plain), NO_COLOR, or TERM=dumb.
func StyleFor(w io.Writer, plain bool, getenv func(string) string) Style {
	return Style{on: !plain && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && IsTerminal(w)}
}

// IsTerminal says whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns is how wide a terminal is; 0 if w is none.
func Columns(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// On says whether the style colours.
func (s Style) On() bool { return s.on }

// ReadSecret reads a line from a terminal without showing it. It is false if r is no terminal.
func ReadSecret(r any) (secret string, asked bool, err error) {
	f, ok := r.(*os.File)
	if !ok || !IsTerminal(f) {
		return "", false, nil
	}
	typed, err := term.ReadPassword(int(f.Fd()))
	return string(typed), true, err
}

func (s Style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Dim and its siblings return text in that look.
func (s Style) Dim(text string) string    { return s.paint("2", text) }
func (s Style) Bold(text string) string   { return s.paint("1", text) }
func (s Style) Red(text string) string    { return s.paint("31", text) }
func (s Style) Green(text string) string  { return s.paint("32", text) }
func (s Style) Yellow(text string) string { return s.paint("33", text) }
func (s Style) Cyan(text string) string   { return s.paint("36", text) }

// Name colours a name, the same one always alike.
func (s Style) Name(name string) string {
	colours := [...]string{"1;34", "1;35", "1;36", "1;32", "1;33"}
	h := fnv.New32a()
	h.Write([]byte(name)) //nolint:errcheck // a hash takes everything
	return s.paint(colours[h.Sum32()%uint32(len(colours))], name)
}
