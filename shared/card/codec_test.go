package card_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func encode(t testing.TB, e card.Event) []byte {
	t.Helper()
	line, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func TestEventBytes(t *testing.T) {
	all := events()
	// Maps have no order and numbers do: the golden files hold what does not depend on it.
	for name, e := range all {
		if e.Envelope.Seq > 0 {
			e.Envelope.Seq = 42
			e.Envelope.EventID = card.EventID(traceID, 42)
		}
		golden(t, filepath.Join("events", name+".json"), encode(t, e))
	}
	files, err := os.ReadDir(filepath.Join("testdata", "events"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(all) {
		t.Errorf("%d files for %d events", len(files), len(all))
	}
}

func TestAnEventIsOneLine(t *testing.T) {
	for name, e := range events() {
		line := encode(t, e)
		if bytes.IndexByte(line, '\n') != len(line)-1 || bytes.Contains(line, []byte(`\u003c`)) || !json.Valid(line) {
			t.Errorf("%s: %q", name, line)
		}
	}
}

func TestCardAndKindAreAlwaysWritten(t *testing.T) {
	for name, e := range events() {
		line := encode(t, e)
		if !bytes.Contains(line, []byte(`"card_id":"`)) || !bytes.Contains(line, []byte(`"card_kind":"`)) {
			t.Errorf("%s: %s", name, line)
		}
		if !bytes.Contains(line, []byte(`"timestamp":"2026-05-07T02:00:00.250Z"`)) {
			t.Errorf("%s has another time: %s", name, line)
		}
	}
}

func TestEventsAreReadBackAndNewKeysIgnored(t *testing.T) {
	for name, e := range events() {
		line := encode(t, e)
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		fields["added_later"] = json.RawMessage(`{"x":[1]}`)
		fields["envelope"] = append([]byte(`{"added_later":1,`), fields["envelope"][1:]...)
		extended, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		back, err := card.Decode(extended)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back.Payload = e.Payload // json.Marshal has escaped it
		if again := encode(t, back); !bytes.Equal(again, line) {
			t.Errorf("%s came back as\n%s\nwant\n%s", name, again, line)
		}
		if _, err := back.Body(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBodiesHaveTheStructOfTheirKind(t *testing.T) {
	for kind, want := range payloads() {
		body, err := events()["add."+string(kind)].Body()
		if err != nil || !reflect.DeepEqual(reflect.ValueOf(body).Elem().Interface(), want) {
			t.Errorf("%s: %+v, %v", kind, body, err)
		}
	}
	inner := func(name string) any {
		t.Helper()
		body, err := events()[name].Body()
		if err != nil {
			t.Fatal(err)
		}
		switch b := body.(type) {
		case *card.TickPayload:
			body, err = b.Body()
		case *card.PromptPayload:
			body, err = b.Body()
		case *card.SessionPayload:
			body, err = b.Body()
		case *card.ClosePayload:
			body, err = b.Body(card.Tool)
		}
		if err != nil {
			t.Fatal(err)
		}
		return reflect.ValueOf(body).Elem().Interface()
	}
	for kind, want := range ticks() {
		if got := inner("tick." + string(kind)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	for kind, want := range prompts() {
		if got := inner("prompt.user." + string(kind)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	for kind, want := range sessionInners() {
		if got := inner("session." + string(kind)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	if got := inner("close.ok"); !reflect.DeepEqual(got, card.ToolPayload{Output: "done"}) {
		t.Errorf("%+v", got)
	}
}

func TestUnknownWordsAreReadAndSaidToBeUnknown(t *testing.T) {
	e, err := card.Decode([]byte(`{"type":"card.fold","envelope":{"card_id":"x","card_kind":"hologram","seq":3},"payload":{"a":1}}`))
	if err != nil || e.Type.Known() || e.Envelope.CardKind.Known() || e.Envelope.Seq != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	if body, err := e.Body(); body != nil || err != nil {
		t.Errorf("%v, %v", body, err)
	}
	e.Type = card.Add
	if body, err := e.Body(); body != nil || err != nil {
		t.Errorf("%v, %v", body, err)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"type":1}`, `{"type":"card.add"} {}`, `{"type":"card.add","envelope":{"seq":-1}}`} {
		if e, err := card.Decode([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, e)
		}
	}
}

func TestWhatIsNoJSONIsNotSent(t *testing.T) {
	if line, err := (card.Event{Type: card.Set, Payload: json.RawMessage(`{`)}).Encode(); err == nil {
		t.Errorf("encoded %s", line)
	}
	made := newTrace().At(at, runID).Set(card.Ref{ID: "t", Kind: card.Tool}, card.ToolPayload{Input: json.RawMessage(`{`)})
	if line := encode(t, made); !strings.Contains(string(line), `"payload":{}`) {
		t.Errorf("%s", line)
	}
}

// TestOurFieldsDoNotSoundLikeSecrets holds what is sent to S2's rule on key names (R19).
func TestOurFieldsDoNotSoundLikeSecrets(t *testing.T) {
	for name, e := range events() {
		var value any
		if err := json.Unmarshal(encode(t, e), &value); err != nil {
			t.Fatal(err)
		}
		each(value, func(key string) {
			if event.SecretKey(key) && !strings.HasPrefix(key, "tokens") && !strings.HasSuffix(key, "tokens") {
				t.Errorf("%s has key %s", name, key)
			}
		})
	}
}

func each(value any, do func(key string)) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			do(key)
			each(inner, do)
		}
	case []any:
		for _, inner := range v {
			each(inner, do)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range events() {
		f.Add(encode(f, e))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := card.Decode(line)
		if err != nil {
			return
		}
		_, _ = e.Body()
		if len(e.Payload) == 0 {
			return
		}
		again, err := e.Encode()
		if err != nil {
			t.Fatalf("%q was read and cannot be written: %v", line, err)
		}
		back, err := card.Decode(again)
		if err != nil {
			t.Fatalf("%q was written and cannot be read: %v", again, err)
		}
		if twice, err := back.Encode(); err != nil || !bytes.Equal(twice, again) {
			t.Errorf("%q became %q, %v", again, twice, err)
		}
	})
}
