package archive

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden file anew")

func header(from, to runlog.EventSeq) Header {
	return Header{
		Format: Format, Epoch: "1f0c5a9e33b2d704", Run: "run_9f2c1b7ad0e44c55", Session: "sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55",
		Agent: "agent_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", AgentChecksum: strings.Repeat("ab", 32), From: from, To: to,
	}
}

func eventOf(seq runlog.EventSeq, payload string) Event {
	return Event{Place: int64(seq) + 100, StoredEvent: runlog.StoredEvent{ //nolint:gosec // a small number
		ID: "evt_0123456789abcdef0123", Run: "run_9f2c1b7ad0e44c55", Seq: seq, Type: event.MessageDelta, WireType: event.Wire(event.MessageDelta),
		OccurredAt: time.UnixMicro(1_789_000_000_123_456).UTC(), RecordedAt: time.UnixMicro(1_789_000_000_200_000).UTC(),
		Payload: json.RawMessage(payload), Checksum: strings.Repeat("cd", 32), Schema: 1, TraceID: strings.Repeat("4b", 16),
		SpanID: "00f067aa0ba902b7", Late: seq > 2, Edge: "edge_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", ProducerSeq: wire.ProducerSeq(seq) + 7,
	}}
}

func pack(tb testing.TB, h Header, events ...Event) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, h)
	for _, e := range events {
		err = errors.Join(err, w.Add(e))
	}
	_, closed := w.Close()
	if err := errors.Join(err, closed); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func unpack(t rapid.TB, data []byte) (events []Event) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data))
	for err == nil {
		var e Event
		if e, err = r.Next(); err == nil {
			events = append(events, e)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return events
}

func plain(tb testing.TB, data []byte) []byte {
	tb.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	content, err := io.ReadAll(zip)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func zipped(tb testing.TB, content []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, err := zip.Write(content)
	if err := errors.Join(err, zip.Close()); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// The bytes that are kept for years.
func TestAnArchiveIsStable(t *testing.T) {
	own := eventOf(2, "{\n\"n\": 1.0,\t\"x\":\"<é>\\u2028\"}")
	own.Edge, own.ProducerSeq, own.SpanID = "", 0, ""
	events := []Event{eventOf(1, `{}`), own, eventOf(3, "{\"a\":1e400}\n")}
	got := plain(t, pack(t, header(1, 3), events...))
	path := filepath.Join("testdata", "v1.txt")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("the form has changed (%v); archives that are there must stay readable:\n%s", err, got)
	}
	if read := unpack(t, zipped(t, want)); !reflect.DeepEqual(read, events) {
		t.Errorf("read %+v", read)
	}
}

func TestWhatIsArchivedIsReadByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := runlog.EventSeq(rapid.Uint64Range(1, 1<<40).Draw(t, "from"))
		payloads := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 20).Draw(t, "payloads")
		var events []Event
		for i, p := range payloads {
			events = append(events, eventOf(from+runlog.EventSeq(i), string(p))) //nolint:gosec // a small number
		}
		var out bytes.Buffer
		w, err := NewWriter(&out, header(from, from+runlog.EventSeq(len(events))-1))
		for _, e := range events {
			err = errors.Join(err, w.Add(e))
		}
		done, closed := w.Close()
		if err := errors.Join(err, closed); err != nil {
			t.Fatal(err)
		}
		if h, s, err := Verify(bytes.NewReader(out.Bytes())); err != nil || h != w.header || s != done {
			t.Fatalf("verified %+v, %+v, %v", h, s, err)
		}
		for i, e := range unpack(t, out.Bytes()) {
			if !bytes.Equal(e.Payload, events[i].Payload) || e.Seq != events[i].Seq {
				t.Fatalf("event %d came back as %q", events[i].Seq, e.Payload)
			}
		}
	})
}

func TestAnyChangeOfAnArchiveIsFound(t *testing.T) {
	data := pack(t, header(1, 2), eventOf(1, `{"delta":"one"}`), eventOf(2, `{"delta":"two"}`))
	content := plain(t, data)
	for i := 0; i < len(content); i += 3 { // one bit each, where gzip cannot see it
		changed := slices.Clone(content)
		changed[i] ^= 1
		if _, _, err := Verify(bytes.NewReader(zipped(t, changed))); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
			t.Errorf("a changed byte %d (%q) was not found: %v", i, content[i], err)
		}
	}
	for i := 0; i < len(data); i += 7 {
		if _, _, err := Verify(bytes.NewReader(data[:i])); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut off at %d: %v", i, err)
		}
	}
	for name, longer := range map[string][]byte{
		"more lines": zipped(t, append(slices.Clone(content), "{}\n"...)),
		"twice":      zipped(t, append(slices.Clone(content), content...)),
	} {
		if _, _, err := Verify(bytes.NewReader(longer)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnArchiveOfANewerFormIsNotMisread(t *testing.T) {
	content := bytes.Replace(plain(t, pack(t, header(1, 1), eventOf(1, `{}`))), []byte(`"switchyard_archive":1`), []byte(`"switchyard_archive":2`), 1)
	if _, _, err := Verify(bytes.NewReader(zipped(t, content))); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v", err)
	}
}

func TestAnArchiveHasNoHole(t *testing.T) {
	w, err := NewWriter(io.Discard, header(1, 3))
	if err := errors.Join(err, w.Add(eventOf(1, `{}`))); err != nil {
		t.Fatal(err)
	}
	if w.Add(eventOf(3, `{}`)) == nil {
		t.Error("event 3 was taken behind event 1")
	}
	if _, err := w.Close(); err == nil {
		t.Error("an archive without its last events was closed")
	}
}

func TestAFileIsPrivateWholeAndAlone(t *testing.T) {
	dir := Dir(filepath.Join(t.TempDir(), "archive"))
	h := header(1, 2)
	fill := func(w *Writer) error { return errors.Join(w.Add(eventOf(1, `{}`)), w.Add(eventOf(2, `{"x":1}`))) }
	done, err := dir.Write(h, fill)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := dir.Write(h, fill); err != nil || again != done {
		t.Errorf("written again it is %+v, %v", again, err)
	}
	if _, err := dir.Write(header(3, 4), func(*Writer) error { return errors.New("store is gone") }); err == nil {
		t.Error("a file without its events was written")
	}
	files, err := os.ReadDir(string(dir))
	if err != nil || len(files) != 1 {
		t.Fatalf("the folder holds %v, %v", files, err)
	}
	info, err := files[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 || info.Name() != h.File() {
		t.Errorf("the file is %v, %v", info, err)
	}
	var read []Event
	if err := dir.Read(h.File(), func(_ Header, e Event) error { read = append(read, e); return nil }); err != nil || len(read) != 2 {
		t.Errorf("read %+v, %v", read, err)
	}
	if err := os.WriteFile(filepath.Join(string(dir), h.File()), []byte("else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.Read(h.File(), func(Header, Event) error { t.Error("read from a damaged file"); return nil }); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(plain(f, pack(f, header(1, 2), eventOf(1, `{}`), eventOf(2, "{\n}"))))
	f.Add([]byte("{\"switchyard_archive\":1,\"run_id\":\"run_9f2c1b7ad0e44c55\",\"from_seq\":1,\"to_seq\":1}\n{\"seq\":1,\"payload_bytes\":-1}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		h, s, err := Verify(bytes.NewReader(zipped(t, content)))
		if err == nil && (h.check() != nil || s.Events <= 0) {
			t.Errorf("%+v with %+v is whole", h, s)
		}
	})
}
