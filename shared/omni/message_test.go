package omni_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

func TestMessageBytes(t *testing.T) {
	all := payloads()
	covered := map[omni.PayloadType]bool{}
	for name, p := range all {
		m := made(t, p)
		covered[m.PayloadType()] = true
		golden(t, filepath.Join("messages", name+".json"), m.Line())
	}
	files, err := os.ReadDir(filepath.Join("testdata", "messages"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(all) {
		t.Errorf("%d files for %d messages", len(files), len(all))
	}
	if len(covered) != len(omni.Shapes()) {
		t.Errorf("%d of %d types have an example", len(covered), len(omni.Shapes()))
	}
}

func TestWhatWasMadeIsReadBack(t *testing.T) {
	for name, p := range payloads() {
		m := made(t, p)
		back, err := omni.Decode(m.Line())
		if err != nil || !bytes.Equal(back.Bytes(), m.Bytes()) {
			t.Fatalf("%s came back as %s, %v", name, back.Bytes(), err)
		}
		if err := back.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		body, err := back.Body()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if reflect.TypeOf(body) != reflect.TypeOf(p) {
			t.Errorf("%s is read as %T", name, body)
		}
		if again := made(t, body); !bytes.Equal(again.Bytes(), m.Bytes()) {
			t.Errorf("%s was read and written as\n%s\nwant\n%s", name, again.Bytes(), m.Bytes())
		}
		if !back.Time().Equal(at) || back.Timestamp() != "2026-07-18T07:30:00.250Z" || len(back.Origin()) != 0 {
			t.Errorf("%s: %s %v", name, back.Timestamp(), back.Origin())
		}
	}
}

func TestFidelityIsKeptVerbatim(t *testing.T) {
	m := made(t, omni.Thinking("", raw(oddFidelity)))
	if !bytes.Contains(m.Bytes(), []byte(`"fidelity":`+oddFidelity)) {
		t.Errorf("%s", m.Bytes())
	}
	body, err := read(t, string(m.Line())).Body()
	if err != nil {
		t.Fatal(err)
	}
	if got := body.(omni.ThinkingPayload).Fidelity; string(got) != oddFidelity {
		t.Errorf("%s", got)
	}
	// Only the ends of lines between values change: a message is one line.
	m = made(t, omni.Thinking("", raw("{\n\t\"a\":\r\n1}\n")))
	if !bytes.Contains(m.Bytes(), []byte("\"fidelity\":{ \t\"a\":  1}}")) {
		t.Errorf("%q", m.Bytes())
	}
}

// TestUnknownThingsStayByteForByte holds Decode, Bytes and WithOrigin to R12.
func TestUnknownThingsStayByteForByte(t *testing.T) {
	for _, line := range []string{
		`{"type":"trace_note","timestamp":"2026-07-18T07:30:00.250Z","payload":{ "a" : 1.0, "a":1e400 }}`,
		`{"timestamp":"2026-07-18T07:30:00.250Z","type":"event_msg","payload":{"type":"goal_finished","x":"\u003c\ud800"}}`,
		`{"timestamp":"2026-07-18T07:30:00.250123+00:00","type":"model_msg","v":2,"payload":{"type":"audio","role":"narrator"},"w":[ ]}`,
		` {"payload":{"sender":"harness","text":"x","role":"user","type":"text"},"timestamp":"2026-07-18T07:30:00Z","type":"model_msg"} `,
	} {
		m := read(t, line+"\n")
		if string(m.Bytes()) != line {
			t.Errorf("%s became %s", line, m.Bytes())
		}
		if err := m.Validate(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if m.PayloadType() != omni.TypeText && m.Known() {
			t.Errorf("%s is known", line)
		}
		passed, err := m.WithOrigin("s1")
		if err != nil {
			t.Fatal(err)
		}
		end := strings.LastIndex(line, "}")
		if want := line[:end] + `,"origin":["s1"]` + line[end:]; string(passed.Bytes()) != want {
			t.Errorf("passed on as %s, want %s", passed.Bytes(), want)
		}
	}
	if body, err := read(t, `{"type":"model_msg","payload":{"type":"audio"}}`).Body(); body != nil || err != nil {
		t.Errorf("%v, %v", body, err)
	}
}

func TestOriginGainsAHopInFront(t *testing.T) {
	m := made(t, omni.UserText("x"))
	for _, session := range []string{"inner", "middle", "outer <1>"} {
		var err error
		if m, err = m.WithOrigin(session); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Origin(); !reflect.DeepEqual(got, []string{"outer <1>", "middle", "inner"}) {
		t.Errorf("%q", got)
	}
	golden(t, "origin.json", m.Line())

	first := read(t, `{"origin" : [ "b" ],"type":"model_msg","timestamp":"2026-07-18T07:30:00Z","payload":{"type":"x"}}`)
	passed, err := first.WithOrigin("a")
	if want := `{"origin" : ["a","b"],"type":"model_msg","timestamp":"2026-07-18T07:30:00Z","payload":{"type":"x"}}`; err != nil || string(passed.Bytes()) != want {
		t.Errorf("%s, %v", passed.Bytes(), err)
	}
	if first.Origin()[0] != "b" {
		t.Error("the first message has changed")
	}
	for _, bad := range []string{`null`, `"a"`, `[1]`, `[]`, `[""]`} {
		m := read(t, `{"type":"x","payload":{},"origin":`+bad+`}`)
		if passed, err := m.WithOrigin("a"); err == nil {
			t.Errorf("%s passed on as %s", bad, passed.Bytes())
		}
	}
	var problems omni.Problems
	if _, err := m.WithOrigin(""); !errors.As(err, &problems) || problems[0].Path != "origin[0]" {
		t.Errorf("%v", err)
	}
	if _, err := (omni.Message{}).WithOrigin("a"); !errors.Is(err, omni.ErrNotMessage) {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	for _, line := range []string{
		``, `null`, `[]`, `{}`, `{"type":"model_msg"}`, `{"payload":{}}`, `{"type":1,"payload":{}}`, `{"type":"","payload":{}}`,
		`{"type":"x","payload":[]}`, `{"type":"x","payload":{}} {}`, `{"Type":"x","PAYLOAD":{}}`, `{"type":"x","payload":{}`,
		"{\"type\":\"x\",\n\"payload\":{}}", "{\"type\":\"\xff\",\"payload\":{}}", `{"type":"x","type":"y","payload":{}}`,
		`{"type":"x","payload":{},"payload":{}}`, `{"type":"x","payload":{},"origin":["a"],"origin":["b"]}`, `{"type":"x","payload":{}}` + "\n\n",
	} {
		if m, err := omni.Decode([]byte(line)); !errors.Is(err, omni.ErrNotMessage) {
			t.Errorf("%q: %s, %v", line, m.Bytes(), err)
		}
	}
	var m omni.Message
	if err := m.Validate(); !errors.Is(err, omni.ErrNotMessage) {
		t.Errorf("the zero message: %v", err)
	}
	if _, err := json.Marshal(m); err == nil {
		t.Error("the zero message is written")
	}
}

func TestBoundsHoldBeforeParsing(t *testing.T) {
	nested := func(depth int) string { // with the message and its payload
		return `{"type":"x","payload":{"a":` + strings.Repeat(`[`, depth-2) + strings.Repeat(`]`, depth-2) + `}}`
	}
	read(t, nested(omni.MaxDepth))
	if _, err := omni.Decode([]byte(nested(omni.MaxDepth + 1))); !errors.Is(err, omni.ErrTooDeep) {
		t.Errorf("%v", err)
	}
	if _, err := omni.Decode([]byte(strings.Repeat(`[`, 1<<20))); !errors.Is(err, omni.ErrTooDeep) { // and is no JSON
		t.Errorf("%v", err)
	}
	if _, err := omni.Decode(bytes.Repeat([]byte{0xff}, omni.MaxBytes+1)); !errors.Is(err, omni.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	deep := raw(`{"a":` + strings.Repeat(`[`, omni.MaxDepth) + strings.Repeat(`]`, omni.MaxDepth) + `}`)
	if _, err := omni.New(at, omni.Thinking("", deep)); !errors.Is(err, omni.ErrTooDeep) {
		t.Errorf("%v", err)
	}
	if _, err := omni.New(at, omni.UserText(strings.Repeat("x", omni.MaxBytes))); !errors.Is(err, omni.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

func TestBadPayloadsAreNotMade(t *testing.T) {
	for _, p := range []omni.Payload{nil, omni.Thinking("", raw(`{`)), omni.ToolListReady(nil), omni.ToolListReady(raw(`x`))} {
		if m, err := omni.New(at, p); err == nil {
			t.Errorf("made %s", m.Bytes())
		}
	}
	if m, err := omni.New(time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), omni.UserText("")); err == nil {
		t.Errorf("made %s", m.Bytes())
	}
	m := made(t, omni.UserText("a\xffb"))
	if !bytes.Contains(m.Bytes(), []byte(`a\ufffdb`)) {
		t.Errorf("%q", m.Bytes())
	}
}

func TestKeysAreReadAsTheyAreWritten(t *testing.T) {
	body, err := read(t, `{"type":"model_msg","payload":{"type":"text","Text":"no","t\u0065xt":"yes","TEXT":"no","role":"user"}}`).Body()
	if err != nil || body.(omni.TextPayload).Text != "yes" {
		t.Errorf("%+v, %v", body, err)
	}
	body, err = read(t, `{"type":"event_msg","payload":{"type":"token_usage","session":{"output":1,"total":2},"session":{"total":3,"total":null}}}`).Body()
	if err != nil || !body.(omni.TokenUsagePayload).Session.IsZero() { // the last one counts
		t.Errorf("%+v, %v", body, err)
	}
	for payload, path := range map[string]string{
		`{"type":"text","text":1}`:                          "payload.text",
		`{"type":"tool_call_output","images":{}}`:           "payload.images",
		`{"type":"tool_call_output","images":["a",{}]}`:     "payload.images[1]",
		`{"type":"tool_call_output","output":["not text"]}`: "payload.output",
	} {
		body, err := read(t, `{"type":"model_msg","payload":`+payload+`}`).Body()
		if !errors.Is(err, omni.ErrPayload) || !strings.Contains(err.Error(), path+" ") {
			t.Errorf("%s: %+v, %v", payload, body, err)
		}
	}
}

func TestMessagesAreJSONValues(t *testing.T) {
	var back struct{ M omni.Message }
	if err := json.Unmarshal([]byte(`{"M":{"type":"x","payload":{"a":1.0}}}`), &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != `{"M":{"type":"x","payload":{"a":1.0}}}` {
		t.Errorf("%s, %v", again, err)
	}
}

func TestALineIsNotShared(t *testing.T) {
	line := []byte(`{"type":"x","payload":{}}` + "\n")
	decoded, err := omni.Decode(line)
	if line[2] = 'T'; err != nil || string(decoded.Bytes()) != `{"type":"x","payload":{}}` {
		t.Errorf("%s, %v", decoded.Bytes(), err)
	}
	m := made(t, omni.UserText("x"))
	one, two := m.Line(), m.Line()
	one[len(one)-1] = 'X'
	if two[len(two)-1] != '\n' || bytes.HasSuffix(m.Bytes(), []byte("\n")) {
		t.Error("the ends of lines are shared")
	}
}
