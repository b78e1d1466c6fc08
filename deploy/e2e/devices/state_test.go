package devices

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// state is what a device has put together, in one spelling: payloads by record and key such as "message msg_…", numbers that only grow such as
// "mark read sess_…/user_…", and what is unread such as "unread sess_…".
type state map[string]string

func stateOf(records map[string]json.RawMessage, marks, unread map[string]int64) state {
	s := state{}
	for key, raw := range records {
		value, err := event.Canonical(raw)
		if err != nil {
			value = fmt.Append(nil, raw, err)
		}
		s[key] = string(value)
	}
	for key, n := range marks {
		s["mark "+key] = strconv.FormatInt(n, 10)
	}
	for session, n := range unread {
		s["unread "+session] = strconv.FormatInt(n, 10)
	}
	return s
}

// kept is a state without who is online, which is kept by nobody.
func (s state) kept() state {
	kept := maps.Clone(s)
	maps.DeleteFunc(kept, func(key, _ string) bool { return strings.HasPrefix(key, "presence ") })
	return kept
}

// stateIn is what the Go SDK has put together.
func stateIn(r *client.Reducer) state {
	unread := map[string]int64{}
	for key := range r.Records() {
		if session, ok := strings.CutPrefix(key, "session "); ok {
			unread[session], _ = r.Unread(session)
		}
	}
	return stateOf(r.Records(), r.Marks(), unread)
}

// reduce is what the Go SDK makes of frames. Lines of a log that came too early are applied when it is their turn.
func reduce(user string, frames []client.HubWebSocketFrame) state {
	r := client.NewReducer()
	r.Of(user)
	for left, before := frames, len(frames)+1; len(left) > 0 && len(left) < before; {
		before = len(left)
		left = slices.DeleteFunc(slices.Clone(left), func(f client.HubWebSocketFrame) bool { return r.Apply(f) != client.Missed })
	}
	return stateIn(r)
}

// mostDifferences is how many are printed.
const mostDifferences = 8

// differences says in which records two states differ, "" if in none.
func differences(a, b state) string {
	var found []string
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if a[key] != b[key] {
			found = append(found, fmt.Sprintf("%s\n\tis    %s\n\tthere %s", key, a[key], b[key]))
		}
	}
	if more := len(found) - mostDifferences; more > 0 {
		found = append(found[:mostDifferences], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(found, "\n")
}

// beginning is from where a device follows.
type beginning struct {
	cursor string
	at     time.Time // messages of a conversation that it joins are fetched back to then
}

// of is a state without what is not given any more to whoever was cut off: what happened in conversations that the person has left. Of those that they
// have entered again it is what the runs have done and who was a member: that is not told again.
func (d *day) of(p *person, mine map[string]bool, s state) state {
	kept := s.kept()
	maps.DeleteFunc(kept, func(key, value string) bool {
		kind, about, _ := strings.Cut(key, " ")
		session := sessionIn(value)
		if kind == "mark" {
			kind, _, _ = strings.Cut(about, " ")
			session = d.sessionOf(about)
		}
		if kind == "unread" {
			session = about
		}
		switch {
		case kind == "session", session == "":
			return false
		case kind == "log", kind == "dispatch", kind == "member", strings.HasPrefix(kind, "agent."):
			return !mine[session] || d.left[p][session]
		}
		return !mine[session]
	})
	return kept
}

// sessionOf is the conversation of a number that only grows.
func (d *day) sessionOf(mark string) string {
	kind, about, _ := strings.Cut(mark, " ")
	if kind == "log" {
		return d.runs[about]
	}
	session, _, _ := strings.Cut(about, "/")
	return session
}

// sessionIn is the conversation that a payload is about, "" if it is about none.
func sessionIn(payload string) string {
	var about struct {
		Session string `json:"session_id"`
	}
	_ = json.Unmarshal([]byte(payload), &about) // of what has another form nothing is known
	return about.Session
}

// shown are the records that people are shown and a new device has as well: a snapshot tells nothing of runs that are over, and of what was read.
func shown(s state) state {
	kept := maps.Clone(s)
	maps.DeleteFunc(kept, func(key, value string) bool {
		switch kind, _, _ := strings.Cut(key, " "); kind {
		case "session", "session.dissolved", "unread", "message", "pin", "reaction":
			return false
		case "notification":
			return strings.Contains(value, `"read":true`)
		}
		return true
	})
	return kept
}
