package omni_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

// traces are files by their names, in the order in which they began.
type traces struct {
	order   []string
	content map[string][]byte
}

func tracesOf(stream []omni.Message) traces {
	kept := traces{content: map[string][]byte{}}
	split := trace.NewSplitter(string(conversationID))
	for _, m := range stream {
		record, ok := split.Add(m)
		if !ok {
			continue
		}
		if kept.content[record.File] == nil {
			kept.order = append(kept.order, record.File)
		}
		kept.content[record.File] = append(kept.content[record.File], record.Message.Line()...)
	}
	return kept
}

// replay reads files, one after the other.
func (f traces) replay(t *rapid.T) (lines []omni.Message) {
	for _, name := range f.order {
		for line, err := range trace.Read(bytes.NewReader(f.content[name])) {
			if err != nil || line.Err != nil {
				t.Fatalf("%s, line %d: %v %v", name, line.Number, err, line.Err)
			}
			lines = append(lines, line.Message)
		}
	}
	return lines
}

func TestALogIsTheSameThroughItsTraces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := fold(conversation(t))
		files := tracesOf(stream)
		for name, content := range files.content {
			checkContext(t, name, content)
		}
		again, err := trace.Join(files.replay(t))
		if err != nil {
			t.Fatal(err)
		}
		told, replayed := bySession(stream), bySession(again)
		if len(told) != len(replayed) {
			t.Fatalf("%d sessions became %d", len(told), len(replayed))
		}
		for chain, lines := range told {
			if !bytes.Equal(lines, replayed[chain]) {
				t.Fatalf("the session %q became\n%s\nwant\n%s", chain, replayed[chain], lines)
			}
		}
		twice := tracesOf(again)
		if len(twice.content) != len(files.content) {
			t.Fatalf("%d files became %d", len(files.content), len(twice.content))
		}
		for name, content := range files.content {
			if !bytes.Equal(content, twice.content[name]) {
				t.Fatalf("%s became\n%s\nwant\n%s", name, twice.content[name], content)
			}
		}
	})
}

// What is brought as traces is told as they say it, and gives the same traces again.
func TestImportedTracesAreTheSameTraces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := tracesOf(fold(conversation(t)))
		stream, err := trace.Join(files.replay(t))
		if err != nil {
			t.Fatal(err)
		}
		run := omnifold.Run{ID: "run_0000000000000001"}
		facts := []omnifold.Fact{{Run: run, Event: event.RunStarted, Payload: json.RawMessage(`{}`)}}
		for _, m := range stream {
			payload, err := event.Encode(event.ImportedPayload{Line: string(m.Bytes())})
			if err != nil {
				t.Fatal(err)
			}
			facts = append(facts, omnifold.Fact{Run: run, Event: event.RunImported, Payload: payload})
			if rapid.IntRange(0, 3).Draw(t, "said") == 0 {
				facts = append(facts, omnifold.Fact{Message: &omnifold.Message{Text: "Said again.", ByAgent: rapid.Bool().Draw(t, "agent")}})
			}
		}
		facts = append(facts, omnifold.Fact{Run: run, Event: event.RunCompleted, Payload: json.RawMessage(`{}`)})
		for i := range facts {
			facts[i].Place = int64(i + 1)
		}
		told := fold(facts)
		if !bytes.Equal(joined(told), joined(stream)) {
			t.Fatalf("told is\n%s\nwant\n%s", joined(told), joined(stream))
		}
		for name, content := range tracesOf(told).content {
			if !bytes.Equal(content, files.content[name]) {
				t.Fatalf("%s became\n%s\nwant\n%s", name, content, files.content[name])
			}
		}
	})
}

// checkContext wants one session_meta, at the beginning, and neither fragments nor origins.
func checkContext(t *rapid.T, name string, content []byte) {
	for line, err := range trace.Read(bytes.NewReader(content)) {
		if err != nil || line.Err != nil || line.Message.IsSessionMeta() != (line.Number == 1) || !line.Message.InTrace() {
			t.Fatalf("%s, line %d: %s", name, line.Number, line.Message.Bytes())
		}
	}
}

// bySession is the stream of each session, without fragments and with its origin: the order of its trace.
func bySession(stream []omni.Message) map[string][]byte {
	told := map[string][]byte{}
	for _, m := range stream {
		if chain := strings.Join(m.Origin(), " "); !m.IsPartial() {
			told[chain] = append(told[chain], m.Line()...)
		}
	}
	return told
}
