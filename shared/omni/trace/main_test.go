package trace_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

var update = flag.Bool("update", false, "write the golden files")

const session = "sess_0198"

// teller makes a stream, a second for each message.
type teller struct {
	t      testing.TB
	at     time.Time
	stream []omni.Message
}

func (s *teller) say(origin []string, payloads ...omni.Payload) {
	s.t.Helper()
	for _, p := range payloads {
		s.at = s.at.Add(time.Second)
		m, err := omni.New(s.at, p)
		for i := len(origin) - 1; err == nil && i >= 0; i-- {
			m, err = m.WithOrigin(origin[i])
		}
		if err != nil {
			s.t.Fatal(err)
		}
		s.stream = append(s.stream, m)
	}
}

func meta(session string) omni.Payload {
	return omni.SessionMetaPayload{SessionID: session, Provider: "anthropic", ModelID: "fable-5", ModelContextWindow: omni.ContextWindow{Tokens: 200_000}}
}

// sample is a conversation with fragments, a compaction, a run beside it, and a sub-agent that has one of its own.
func sample(tb testing.TB) []omni.Message {
	tb.Helper()
	s := &teller{t: tb, at: time.Date(2026, 7, 18, 7, 30, 0, 0, time.UTC)}
	agent, nested, beside := []string{"run_1/scout"}, []string{"run_1/scout", "run_1/reader"}, []string{"run_2"}
	s.say(nil, meta(session), omni.UserText("列出 <这个> 目录"), omni.RequestBegin())
	s.say(nil, omni.PartialText(omni.Start, ""), omni.PartialText(omni.Delta, "Let me "), omni.PartialText(omni.Delta, "look."),
		omni.PartialText(omni.Stop, ""), omni.AssistantText("Let me look."), omni.ToolCall("call_1", "task", `{"who":"scout"}`),
		omni.RequestEnd(omni.Completed, omni.RetryDetail{}), omni.Subagent("run_1/scout"))
	s.say(agent, meta("run_1/scout"), omni.UserText("Look."))
	s.say(nil, omni.Subagent("run_2"))
	s.say(beside, meta("run_2"), omni.UserText("And you?"))
	s.say(agent, omni.Subagent("run_1/reader"))
	s.say(nested, meta("run_1/reader"), omni.UserText("Read."), omni.AssistantText("Done."))
	s.say(agent, omni.AssistantText("There are two files."))
	s.say(beside, omni.AssistantText("I am well."))
	s.say(nil, omni.ToolCallOutput("call_1", "There are two files."), omni.CompactionBegin("manual", omni.Summarize, 9000, 1),
		omni.CompactionEnd(omni.CompactionBegin("manual", omni.Summarize, 9000, 1), omni.Completed, omni.RetryDetail{}),
		meta(session), omni.UserText("[context_summary]\nTwo files."), omni.AssistantText("Two files."))
	return s.stream
}

func write(t testing.TB, dir string, stream []omni.Message) *trace.Folder {
	t.Helper()
	f, err := trace.OpenFolder(dir, session)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range stream {
		if err := f.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Finish(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	return f
}

// filesIn reads a directory.
func filesIn(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(content)
	}
	return files
}

func readAll(t testing.TB, content string) (lines []omni.Message, wrong []trace.Line) {
	t.Helper()
	for line, err := range trace.Read(bytes.NewReader([]byte(content))) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Err != nil {
			wrong = append(wrong, line)
			continue
		}
		lines = append(lines, line.Message)
	}
	return lines, wrong
}
