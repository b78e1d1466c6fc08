package httpapi_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// block is a server-sent event of a conversation as a client gets it: an id, an event, or a comment alone too.
type block struct{ id, event, data string }

// block returns the next one; false at the end of the stream.
func (f *follower) block() (got block, more bool) {
	f.t.Helper()
	some := false
	for f.lines.Scan() {
		line := f.lines.Text()
		if line == "" {
			if some {
				return got, true
			}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			f.comments = append(f.comments, value)
		case "id":
			got.id, some = value, true
		case "event":
			got.event, some = value, true
		case "data":
			got.data, some = value, true
		}
	}
	return block{}, false
}

// blocks returns so many.
func (f *follower) blocks(n int) (all []block) {
	f.t.Helper()
	for range n {
		b, more := f.block()
		if !more {
			f.t.Fatalf("the stream ended after %+v: %v", all, f.lines.Err())
		}
		all = append(all, b)
	}
	return all
}

// until reads on to a block of which something is true.
func (f *follower) until(is func(block) bool) (all []block) {
	f.t.Helper()
	for {
		all = append(all, f.blocks(1)...)
		if is(all[len(all)-1]) {
			return all
		}
	}
}

func has(text string) func(block) bool {
	return func(b block) bool { return strings.Contains(b.data, text) }
}

func (p *place) omniStream() string  { return "/api/sessions/" + p.session + "/stream" }
func (p *place) omniHistory() string { return "/api/sessions/" + p.session + "/messages" }

// history is a page of a conversation as a client has it.
type history struct {
	Messages []struct {
		Position string       `json:"position"`
		Message  omni.Message `json:"message"`
	} `json:"messages"`
	Cursor string `json:"cursor"`
	More   bool   `json:"more"`
	Floor  string `json:"floor"`
	Live   *struct {
		Cursor    string         `json:"cursor"`
		Fragments []omni.Message `json:"fragments"`
	} `json:"live"`
}

func (c *client) history(path string, query url.Values) (h history) {
	c.hub.t.Helper()
	c.get(path+"?"+query.Encode()).is(200, "").into(&h)
	return h
}

func (h history) lines() (lines []string) {
	for _, m := range h.Messages {
		lines = append(lines, string(m.Message.Bytes()))
	}
	return lines
}

// whole reads all of the history, page by page.
func (c *client) whole(path string, limit int) (lines []string) {
	c.hub.t.Helper()
	for after := "0"; ; {
		h := c.history(path, url.Values{"after": {after}, "limit": {strconv.Itoa(limit)}})
		lines, after = append(lines, h.lines()...), h.Cursor
		if !h.More {
			return lines
		}
	}
}

// complete are the lines of messages that are no fragments.
func complete(t testing.TB, lines []string) []string {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		m, err := omni.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return m.IsPartial()
	})
}

// tale lets a run say a little of everything: it has asked for a permission, and stands in the middle of a text.
func (r *reporter) tale(request id.Request) {
	r.p.t.Helper()
	r.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now(), WorkDir: workDir})
	r.say(event.Thinking, event.DeltaPayload{Delta: "Hm."})
	r.delta("Let me <see>.")
	r.say(event.ToolStarted, event.ToolStartedPayload{ToolCallID: "a", ToolName: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)})
	r.say(event.PromptRequested, event.PromptRequestedPayload{
		RequestID: request, Kind: event.PromptPermission, ToolName: "bash", ToolCallID: "a", Input: json.RawMessage(`{"command":"ls"}`),
		Digest: strings.Repeat("a", 64), Asks: event.Person,
	})
}

func sameLines(t testing.TB, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("%s: %d messages, want %d; the next is\n%s", what, len(got), len(want), want[i])
		case i >= len(want):
			t.Fatalf("%s: %d messages, want %d; too many is\n%s", what, len(got), len(want), got[i])
		case got[i] != want[i]:
			t.Fatalf("%s: message %d is\n%s\nwant\n%s", what, i, got[i], want[i])
		}
	}
}
