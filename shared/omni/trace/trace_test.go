package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

func TestNames(t *testing.T) {
	for session, want := range map[string]string{
		"session-2026-07-18-09-30-00-a1b2c3d4": "session-2026-07-18-09-30-00-a1b2c3d4_007.jsonl",
		"run_1/scout":                          "run_1%2Fscout_007.jsonl",
		"..":                                   "%2E._007.jsonl",
		"a%b c\x00\\:":                         "a%25b%20c%00%5C%3A_007.jsonl",
		"中":                                    "%E4%B8%AD_007.jsonl",
	} {
		if got := trace.Name(session, 7); got != want {
			t.Errorf("%q is in %s, want %s", session, got, want)
		}
	}
}

func TestLongNamesAreShortAndTheirOwn(t *testing.T) {
	long := strings.Repeat("中", 1000)
	one, other := trace.Name(long, 1), trace.Name(long+"x", 1)
	if len(one) > 255 || one == other || one != trace.Name(long, 1) || !strings.HasPrefix(one, "%E4%B8%AD") {
		t.Errorf("they are %s and %s", one, other)
	}
}

func TestSessionsOfTheSameNameShareNoFile(t *testing.T) {
	s := trace.NewSplitter(session)
	var names []string
	for _, name := range []string{"sub", "SUB"} {
		m := made(t, meta(name))
		for _, above := range []string{name, "other"} {
			passed, err := m.WithOrigin(name)
			if above != name {
				passed, err = passed.WithOrigin(above)
			}
			if err != nil {
				t.Fatal(err)
			}
			record, ok := s.Add(passed)
			if !ok || !bytes.Equal(record.Message.Bytes(), m.Bytes()) || record.Session != name {
				t.Fatalf("%s became %s", passed.Bytes(), record.Message.Bytes())
			}
			names = append(names, record.File)
		}
	}
	if want := []string{"sub_001.jsonl", "sub_002.jsonl", "SUB_003.jsonl", "SUB_004.jsonl"}; !slices.Equal(names, want) {
		t.Errorf("files are %v, want %v", names, want)
	}
}

func TestAContextWithoutItsBeginningHasTheNumber0(t *testing.T) {
	s := trace.NewSplitter(session)
	stream := sample(t)[1:]
	first, ok := s.Add(stream[0])
	if !ok || first.File != "sess_0198_000.jsonl" || first.Session != session {
		t.Errorf("it is in %s", first.File)
	}
	if m := stream[2]; !m.IsPartial() {
		t.Fatalf("%s is no fragment", m.Bytes())
	} else if record, ok := s.Add(m); ok {
		t.Errorf("a fragment is in %s", record.File)
	}
}

func made(t *testing.T, p omni.Payload) omni.Message {
	t.Helper()
	s := &teller{t: t}
	s.say(nil, p)
	return s.stream[0]
}

func TestDigestsOfAStreamAreThoseOfItsFiles(t *testing.T) {
	split, sums := trace.NewSplitter(session), map[string]*trace.Sum{}
	for _, m := range sample(t) {
		if record, ok := split.Add(m); ok {
			if sums[record.File] == nil {
				sums[record.File] = &trace.Sum{}
			}
			sums[record.File].Add(record.Message.Line())
		}
	}
	for name, content := range filesIn(t, "testdata") {
		got, err := trace.DigestOf(name, strings.NewReader(content))
		if err != nil || got != sums[name].Digest(name) || got.Lines != strings.Count(content, "\n") || got.Bytes != int64(len(content)) {
			t.Errorf("%+v %v, want %+v", got, err, sums[name].Digest(name))
		}
	}
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if none := (&trace.Sum{}).Digest("none"); none != (trace.Digest{Name: "none", SHA256: empty}) {
		t.Errorf("nothing is %+v", none)
	}
}

func TestLinesThatAreNoMessagesArePassedOver(t *testing.T) {
	good := string(made(t, omni.UserText("Hello.")).Bytes())
	lines, wrong := readAll(t, good+"\n{\"type\":\n\n"+good+"\r\n"+strings.Repeat("[", 2<<20)+"\n"+good)
	var numbers []int
	for _, line := range wrong {
		numbers = append(numbers, line.Number)
	}
	if len(lines) != 2 || !slices.Equal(numbers, []int{2, 4, 5}) || !errors.Is(wrong[2].Err, omni.ErrTooDeep) {
		t.Errorf("%d lines, wrong are %v", len(lines), numbers)
	}
}

func TestALineThatIsTooLongIsPassedOver(t *testing.T) {
	long := strings.Repeat("x", omni.MaxBytes+10)
	lines, wrong := readAll(t, long+"\n"+string(made(t, omni.UserText("Hello.")).Line()))
	if len(lines) != 1 || len(wrong) != 1 || !errors.Is(wrong[0].Err, omni.ErrTooLarge) {
		t.Errorf("%d lines, wrong are %v", len(lines), len(wrong))
	}
}

func TestAReaderThatFailsSaysWhere(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(bytes.NewReader(made(t, omni.UserText("Hello.")).Line()), iotest.ErrReader(broken))
	n := 0
	for line, err := range trace.Read(in) {
		n++
		if n == 2 && (!errors.Is(err, broken) || line.Number != 2) {
			t.Errorf("line %d: %v", line.Number, err)
		}
	}
	if n != 2 {
		t.Errorf("%d lines", n)
	}
}

func TestJoinedTracesMakeTheSameFiles(t *testing.T) {
	files := filesIn(t, "testdata")
	var lines []omni.Message
	for _, name := range []string{"sess_0198_001.jsonl", "sess_0198_002.jsonl", "run_1%2Freader_001.jsonl", "run_2_001.jsonl", "run_1%2Fscout_001.jsonl"} {
		some, wrong := readAll(t, files[name])
		if wrong != nil {
			t.Fatal(wrong)
		}
		lines = append(lines, some...)
	}
	stream, err := trace.Join(lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := omni.CheckStream(stream); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	write(t, dir, stream)
	for name, content := range filesIn(t, dir) {
		if files[name] != content {
			t.Errorf("%s became\n%s", name, content)
		}
	}
}

func TestTracesThatDoNotBelongTogetherAreNotJoined(t *testing.T) {
	other := made(t, meta("other"))
	deep := []omni.Message{made(t, meta("s0"))}
	for i := range 20 {
		below := fmt.Sprintf("s%d", i+1)
		deep = append(deep, made(t, omni.Subagent(below)), made(t, meta(below)))
	}
	for name, c := range map[string]struct {
		lines []omni.Message
		want  error
	}{
		"no meta":       {sample(t)[1:2], trace.ErrNoMeta},
		"two sessions":  {[]omni.Message{made(t, meta("one")), other}, trace.ErrApart},
		"only pointers": {[]omni.Message{made(t, meta("a")), made(t, omni.Subagent("b")), made(t, meta("b")), made(t, omni.Subagent("a"))}, trace.ErrApart},
		"a ring apart": {[]omni.Message{
			made(t, meta("root")), made(t, meta("a")), made(t, omni.Subagent("b")), made(t, meta("b")), made(t, omni.Subagent("a")),
		}, trace.ErrApart},
		"too deep": {deep, trace.ErrDeep},
	} {
		if _, err := trace.Join(c.lines); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if none, err := trace.Join(nil); err != nil || none != nil {
		t.Errorf("nothing is %v, %v", none, err)
	}
}

// FuzzRead holds what is read to the lines that are there, and what is joined of it to the files that they came from.
func FuzzRead(f *testing.F) {
	for _, content := range filesIn(f, "testdata") {
		f.Add([]byte(content))
	}
	f.Add([]byte("{\"type\":\"session_meta\",\"payload\":{\"session_id\":\"a\"}}\n\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"subagent\",\"session_id\":\"a\"}}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		var lines []omni.Message
		all := bytes.Split(content, []byte("\n"))
		for line, err := range trace.Read(bytes.NewReader(content)) {
			if err != nil {
				t.Fatal(err)
			}
			if line.Err == nil {
				if !bytes.Equal(line.Message.Bytes(), all[line.Number-1]) {
					t.Fatalf("line %d is %q", line.Number, line.Message.Bytes())
				}
				if line.Message.InTrace() {
					lines = append(lines, line.Message)
				}
			}
		}
		stream, err := trace.Join(lines)
		if err != nil {
			return
		}
		if len(stream) != len(lines) {
			t.Fatalf("%d lines became %d", len(lines), len(stream))
		}
		split := trace.NewSplitter("s")
		for _, m := range stream {
			record, ok := split.Add(m)
			if !ok || !slices.ContainsFunc(lines, func(l omni.Message) bool { return bytes.Equal(l.Bytes(), record.Message.Bytes()) }) {
				t.Fatalf("%q was not there", record.Message.Bytes())
			}
		}
	})
}
