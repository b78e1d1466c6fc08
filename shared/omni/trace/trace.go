// Package trace keeps OmniMessages in files (S1, Trace 落盘): JSONL, one file for each context of a model, with its session_meta first and then the
// complete messages and the events of it, no fragments, and nothing that was passed on from a sub-agent's session, which has files of its own.
//
// Files are only appended to, one write for a record. They hold nothing that the stream does not say, so one that is lost is written again from the
// stream, byte for byte. A line that was cut off is not part of a file, and the next record takes its place.
package trace

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// Ext ends the names of traces.
const Ext = ".jsonl"

// bytesOfSession bounds the part of a name that says the session: file systems take 255 bytes.
const bytesOfSession = 160

// Name is the file of a context: the session and the number of the context in it, "sess_1_001.jsonl". A context whose beginning is no longer kept has
// the number 0. What file systems do not take, or take for something else, is written %XX.
func Name(session string, index int) string {
	return fmt.Sprintf("%s_%03d%s", fileSafe(session), index, Ext)
}

func fileSafe(session string) string {
	var safe strings.Builder
	for i := range len(session) {
		switch c := session[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			safe.WriteByte(c)
		default:
			fmt.Fprintf(&safe, "%%%02X", c)
		}
	}
	if safe.Len() <= bytesOfSession {
		return safe.String()
	}
	sum := sha256.Sum256([]byte(session))
	return fmt.Sprintf("%s~%x", safe.String()[:bytesOfSession-17], sum[:8])
}

// Record is a message and the file that it stands in.
type Record struct {
	File    string       // its name
	Session string       // that it is of, as its session_meta says
	Message omni.Message // as it stands there: without the chain that it came through
}

// Splitter cuts a stream into the records of its traces. It remembers one name for each session, and is not safe for concurrent use.
type Splitter struct {
	session  string
	at       map[string]context // that a session is in, by its chain
	contexts map[string]int     // of a session, by its name, whose case is nothing to some file systems
}

// NewSplitter is for the stream of a session. Its name is for what comes before the first session_meta: history may begin in the middle of a context.
func NewSplitter(session string) *Splitter {
	return &Splitter{session: session, at: map[string]context{}, contexts: map[string]int{}}
}

// context is one context of a session.
type context struct{ file, session string }

// Add returns the record that m is, false if it is none: a fragment.
func (s *Splitter) Add(m omni.Message) (Record, bool) {
	if m.IsPartial() {
		return Record{}, false
	}
	origin := m.Origin()
	chain := strings.Join(origin, "\x00")
	bare := m.WithoutOrigin()
	at, begun := s.at[chain]
	switch {
	case m.IsSessionMeta():
		at = s.begin(sessionOf(bare, s.nameOf(origin)))
	case !begun:
		at = context{file: Name(s.nameOf(origin), 0), session: s.nameOf(origin)}
	}
	s.at[chain] = at
	return Record{File: at.file, Session: at.session, Message: bare}, true
}

func (s *Splitter) nameOf(origin []string) string {
	if len(origin) == 0 {
		return s.session
	}
	return origin[len(origin)-1]
}

func (s *Splitter) begin(session string) context {
	key := strings.ToLower(fileSafe(session))
	s.contexts[key]++
	return context{file: Name(session, s.contexts[key]), session: session}
}

// sessionOf is the name that a session_meta says, or another one if it says none.
func sessionOf(meta omni.Message, otherwise string) string {
	body, err := meta.Body()
	if p, ok := body.(omni.SessionMetaPayload); err == nil && ok && p.SessionID != "" {
		return p.SessionID
	}
	return otherwise
}
