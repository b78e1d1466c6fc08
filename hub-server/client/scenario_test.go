package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// A scenario is what a hub does and what a client must have made of it. api/scenarios.md says what each field means.
type scenario struct {
	Name  string
	Rule  string
	Start struct {
		Cursor  string
		Begin   string
		By      string
		User    UserID
		Session SessionID
		Since   time.Time
		Heads   map[SessionID]SeqID
		Changes map[SessionID]ChangeSeq
		Keep    Limits
	}
	REST        map[string][]restAnswer `json:"rest"`
	Connections []scriptedConnection
	Want        outcome
}

type restAnswer struct {
	Status     int
	RetryAfter int `json:"retry_after"`
	Body       json.RawMessage
	AfterMS    []int64 `json:"after_ms"`
}

type scriptedConnection struct {
	Cursor  string
	AfterMS []int64 `json:"after_ms"`
	Refuse  *restAnswer
	Script  []step
}

type step struct {
	Send  json.RawMessage
	Text  string
	Cut   bool
	Close *struct {
		Code   int
		Reason string
	}
	UntilClosed bool `json:"until_closed"`
}

type outcome struct {
	Cursor   string
	Ended    string
	Told     []string
	Records  map[string]json.RawMessage
	Marks    map[string]int64
	Unread   map[SessionID]int64
	Bubbles  map[SessionID][]string
	Words    map[RunID]string
	Requests map[string]int
	Digest   string
}

func readScenarios(t *testing.T) []scenario {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "api", "scenarios.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Version   int
		Scenarios []scenario
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if file.Version != 1 || len(file.Scenarios) == 0 {
		t.Fatalf("version %d, %d scenarios", file.Version, len(file.Scenarios))
	}
	return file.Scenarios
}

func TestScenarios(t *testing.T) {
	for _, s := range readScenarios(t) {
		t.Run(s.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, s) })
		})
	}
}

var beginnings = map[string]Beginning{"": BeginMissed, "missed": BeginMissed, "whole": BeginWhole, "live": BeginLive}

// play lets a client live through a scenario.
func play(t *testing.T, s scenario) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	hub := newScriptedHub(t, s)
	c, err := New(Options{Hub: "http://hub", Transport: hub.transport, Keeper: NewMemoryKeeper(Credentials{
		UserID: s.Start.User, AccessToken: "access-0", RefreshToken: "refresh-0", ExpiresAt: time.Now().Add(24 * time.Hour),
	})})
	if err != nil {
		t.Fatal(err)
	}
	at := &place{cursor: s.Start.Cursor}
	feed := c.Feed(at, FeedOptions{Begin: beginnings[s.Start.Begin], Session: s.Start.Session, Since: s.Start.Since, Heads: s.Start.Heads, Changes: s.Start.Changes, Keep: s.Start.Keep})
	var told []string
	words := map[RunID]string{}
	var ended error
	updates := feed.Follow(ctx)
	if s.Start.By == "sync" {
		updates = feed.Sync(ctx)
	}
	for u, err := range updates {
		if err != nil {
			ended = err
			break
		}
		if u.Frame != nil && isEnd(*u.Frame) {
			break
		}
		if u.Truncated {
			told = append(told, strings.TrimSpace("truncated "+u.Session))
		}
		if u.New {
			told = append(told, nameOf(u))
			run, text := Words(*u.Frame)
			words[run] += text
		}
	}
	delete(words, "")
	hub.stop()
	if missing := len(s.Connections) - hub.made(); missing != 0 {
		t.Errorf("%d of %d connections were not made", missing, len(s.Connections))
	}
	got := stateOf(feed.State(), s.Want)
	got.Cursor, got.Ended, got.Told, got.Words, got.Requests = at.at(), endName(ended), told, words, hub.requests
	for _, d := range differences(s.Want, got) {
		t.Error(d)
	}
}

func stateOf(state *Reducer, want outcome) outcome {
	o := outcome{
		Records: state.Records(), Marks: state.Marks(), Digest: state.Digest(), Bubbles: map[SessionID][]string{}, Unread: map[SessionID]int64{},
	}
	for session := range want.Unread {
		if n, known := state.Unread(session); known {
			o.Unread[session] = n
		}
	}
	for session := range want.Bubbles {
		for _, b := range state.Bubbles(session) {
			o.Bubbles[session] = append(o.Bubbles[session], b.Text)
		}
	}
	return o
}

// end is the user of the frame by which a hub says that the scenario is over.
const end = "end"

func isEnd(f HubWebSocketFrame) bool {
	var p TypingPayload
	return f.Type == HubWebSocketFrameTypeTyping && json.Unmarshal(f.Payload, &p) == nil && p.UserID == end
}

func nameOf(u Update) string {
	if u.Asked {
		return "asked " + Key(*u.Frame)
	}
	return Key(*u.Frame)
}

func endName(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrKicked):
		return "kicked"
	case errors.Is(err, ErrLoggedOut):
		return "logged_out"
	}
	return err.Error()
}

// differences says where what a client made of a scenario is not what it wants.
func differences(want, got outcome) []string {
	var all []string
	differs := func(what string, got, want any) {
		all = append(all, fmt.Sprintf("%s\n%v, want\n%v", what, got, want))
	}
	if got.Cursor != want.Cursor {
		differs("kept cursor", got.Cursor, want.Cursor)
	}
	if got.Ended != want.Ended {
		differs("ended", got.Ended, want.Ended)
	}
	if want.Told != nil && !slices.Equal(got.Told, want.Told) {
		differs("told", got.Told, want.Told)
	}
	if g, w := canonicalRecords(got.Records), canonicalRecords(want.Records); want.Records != nil && !maps.Equal(g, w) {
		differs("records", lines(g), lines(w))
	}
	if want.Marks != nil && !maps.Equal(got.Marks, want.Marks) {
		differs("marks", got.Marks, want.Marks)
	}
	if want.Unread != nil && !maps.Equal(got.Unread, want.Unread) {
		differs("unread", got.Unread, want.Unread)
	}
	if want.Words != nil && !maps.Equal(got.Words, want.Words) {
		differs("words", got.Words, want.Words)
	}
	for session, texts := range want.Bubbles {
		if !slices.Equal(got.Bubbles[session], texts) {
			differs("bubbles of "+session, got.Bubbles[session], texts)
		}
	}
	for request, n := range want.Requests {
		if got.Requests[request] != n {
			differs("requests "+request, got.Requests[request], n)
		}
	}
	if want.Digest != "" && got.Digest != want.Digest {
		differs("digest", got.Digest, want.Digest)
	}
	return all
}

func TestAnOutcomeThatIsNotTheWantedOneIsSeen(t *testing.T) {
	want := outcome{
		Told: []string{}, Records: map[string]json.RawMessage{}, Marks: map[string]int64{}, Words: map[RunID]string{},
		Unread:  map[SessionID]int64{"s": 1},
		Bubbles: map[SessionID][]string{"s": {"x"}}, Requests: map[string]int{"GET /": 1}, Digest: "d",
	}
	got := outcome{
		Cursor: "c", Ended: "kicked", Told: []string{"a"}, Records: map[string]json.RawMessage{"a": json.RawMessage("{}")},
		Marks: map[string]int64{"a": 1}, Words: map[RunID]string{"r": "x"},
	}
	if found := differences(want, got); len(found) != 10 {
		t.Errorf("%d differences, want 10:\n%s", len(found), strings.Join(found, "\n"))
	}
}

func canonicalRecords(records map[string]json.RawMessage) map[string]string {
	all := map[string]string{}
	for key, raw := range records {
		value, err := event.Canonical(raw)
		if err != nil {
			value = fmt.Append(nil, err)
		}
		all[key] = string(value)
	}
	return all
}

func lines(records map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(records)) {
		fmt.Fprintf(&b, "%s: %s\n", key, records[key])
	}
	return b.String()
}

// A scenario that nobody has written cannot fail.
func TestScenariosShowEveryFrameTypeAndEveryCloseCode(t *testing.T) {
	types, codes := map[string]bool{}, map[int]bool{}
	for _, s := range readScenarios(t) {
		for _, c := range s.Connections {
			for _, step := range c.Script {
				var f HubWebSocketFrame
				if step.Send != nil && json.Unmarshal(step.Send, &f) == nil {
					types[string(f.Type)] = true
				}
				if step.Close != nil {
					codes[step.Close.Code] = true
				}
			}
		}
	}
	for _, row := range event.Frames() {
		if !types[string(row.Type)] {
			t.Errorf("no scenario has %s", row.Type)
		}
	}
	for _, code := range []int{1012, 1013, 4401, 4408, 4409, 4410} {
		if !codes[code] {
			t.Errorf("no scenario ends with %d", code)
		}
	}
}
