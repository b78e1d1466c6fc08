package conformance

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
)

// heard is what a line means for the rest of the turn.
type heard struct {
	final   bool // the reply or an error: nothing will be asked any more
	request *request
}

// ended is how a turn ended.
type ended struct {
	ok      bool
	errored bool   // with an error of the agent's own
	why     string // it is not ok
	taken   bool   // what was said while it worked
}

// proper says whether a turn ended as an agent may end one that it cannot serve: with a reply, or with a reason.
func (e ended) proper() bool { return e.ok || e.errored }

// ear listens to one turn in one protocol and writes what it hears of the rules into a ledger. Its methods are called one after the other.
type ear interface {
	// hear takes one line that is a JSON object.
	hear(text []byte) heard
	// end takes the end of the process, which was not stopped.
	end(exit process.Exit) ended
	// session is the first session id that was heard; "" is none.
	session() string
}

// listen takes any line, whole or not.
func listen(l *ledger, e ear, line process.Line) heard {
	text := line.Text
	l.check(lineUTF8, utf8.Valid(text), "a line is not UTF-8: %.60q", text)
	l.check(lineLength, line.Cut == 0, "a line of %d bytes", int64(len(text))+line.Cut)
	if line.Cut > 0 {
		return heard{}
	}
	trimmed := bytes.TrimSpace(text)
	object := json.Valid(text) && bytes.HasPrefix(trimmed, []byte("{"))
	l.check(stdoutEvents, object, "this is no JSON object: %.80q", text)
	if !object {
		return heard{}
	}
	return e.hear(text)
}

// fields are the members of a line by their exact names.
type fields map[string]json.RawMessage

func fieldsOf(text []byte) fields {
	var f fields
	if json.Unmarshal(text, &f) != nil {
		return fields{}
	}
	return f
}

// text returns a member that is a string; false for any other, and for one that is not there.
func (f fields) text(name string) (string, bool) {
	var s string
	raw, ok := f[name]
	if !ok || !bytes.HasPrefix(raw, []byte(`"`)) || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// tail remembers the last byte of a stream: an io.Writer.
type tail struct{ last byte }

// Write never fails.
func (t *tail) Write(data []byte) (int, error) {
	if len(data) > 0 {
		t.last = data[len(data)-1]
	}
	return len(data), nil
}
