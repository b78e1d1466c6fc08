package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryToolThatIsAllowedIsUsedOnce(t *testing.T) {
	book := filepath.Join(t.TempDir(), "book")
	stdin := `{"type":"turn","message":"go","session_id":"the-one","protocol_version":"0.4","permission":true}` + "\n" +
		`{"type":"permission_response","request_id":"3","behavior":"allow","updated_input":{"n":4}}` + "\n" +
		`{"type":"permission_response","request_id":"2","behavior":"deny","message":"not here"}` + "\n" +
		`{"type":"permission_response","request_id":"1","behavior":"allow"}` + "\n"
	var out bytes.Buffer
	args := []string{"--book", book, "--input", `{"n":1}`, "--input", `{"n":2}`, "--input", `{"n":3}`}
	if err := run(args, strings.NewReader(stdin), &out); err != nil {
		t.Fatal(err)
	}
	used, err := os.ReadFile(book)
	if err != nil || string(used) != "{\"n\":4}\n{\"n\":1}\n" {
		t.Errorf("book %q, %v", used, err)
	}
	for _, want := range []string{`resumed, told go\n`, `3 used {\"n\":4}\n`, `2 denied not here\n`, `1 used {\"n\":1}\n`, `"type":"result"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s does not say %s", out.String(), want)
		}
	}
}

func TestAnAnswerThatNeverComesFailsTheTurn(t *testing.T) {
	stdin := `{"type":"turn","message":"go","session_id":"","protocol_version":"0.4"}` + "\n"
	if err := run([]string{"--input", `{}`}, strings.NewReader(stdin), &bytes.Buffer{}); err == nil {
		t.Error("the agent went on")
	}
}
