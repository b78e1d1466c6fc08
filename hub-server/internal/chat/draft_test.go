package chat

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestDraftsAreCheckedBeforeAnythingElse(t *testing.T) {
	long := strings.Repeat("x", MaxContent)
	many := `{"first":1`
	for i := range maxKeys {
		many += `,"k` + strconv.Itoa(i) + `":1`
	}
	for name, c := range map[string]struct {
		kind    ContentType
		content string
		code    fault.Code
	}{
		"plain":           {"", `{"text":"hi"}`, ""},
		"extra field":     {Text, `{"text":"hi","lang":"en"}`, ""},
		"the longest":     {Text, `{"text":"` + long + `"}`, ""},
		"one too long":    {Text, `{"text":"` + long + `x"}`, fault.TooLarge},
		"escaped long":    {Text, `{"text":"` + strings.Repeat(`\u0041`, MaxContent) + `"}`, ""},
		"empty":           {Text, `{"text":""}`, fault.EmptyPrompt},
		"blank":           {Text, `{"text":" \n\t "}`, fault.EmptyPrompt},
		"no text":         {Text, `{}`, fault.InvalidRequest},
		"null text":       {Text, `{"text":null}`, fault.InvalidRequest},
		"number":          {Text, `{"text":7}`, fault.InvalidRequest},
		"list":            {Text, `[1]`, fault.InvalidRequest},
		"null":            {Text, `null`, fault.InvalidRequest},
		"nothing":         {Text, ``, fault.InvalidRequest},
		"forged task":     {Text, `{"text":"hi","agent_task":{"task_id":"run_0"}}`, fault.InvalidRequest},
		"too many fields": {Text, many + "}", fault.InvalidRequest},
		"code":            {Code, `{"code":"x := 1"}`, ""},
		"code, too long":  {Code, `{"code":"` + long + `"}`, fault.TooLarge},
		"unknown kind":    {"video", `{"text":"hi"}`, fault.InvalidRequest},
	} {
		_, _, err := Draft{ContentType: c.kind, Content: []byte(c.content)}.check()
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
	var agents, people []MemberID
	for range MaxPeople + 1 {
		agents, people = append(agents, OfAgent(id.NewAgent())), append(people, OfUser(id.NewUser()))
	}
	for _, many := range [][]MemberID{agents[:MaxMentions+1], people} {
		if _, _, err := (Draft{Content: []byte(`{"text":"hi"}`), Mentions: many}).check(); fault.CodeOf(err) != fault.TooLarge {
			t.Errorf("%d mentions: %v", len(many), err)
		}
	}
	if _, _, err := (Draft{Content: []byte(`{"text":"hi"}`), Mentions: append(agents[:MaxMentions], people[:MaxPeople]...)}).check(); err != nil {
		t.Errorf("as many as are allowed: %v", err)
	}
}

func TestAttachmentsAloneAreAMessage(t *testing.T) {
	picture := []wire.Attachment{{Kind: "image", URL: "https://example.com/a.png"}}
	for name, c := range map[string]struct {
		content     string
		attachments []wire.Attachment
		code        fault.Code
	}{
		"no text":       {`{"text":""}`, picture, ""},
		"blank text":    {`{"text":" "}`, picture, ""},
		"not even that": {`{}`, picture, fault.InvalidRequest},
		"neither":       {`{"text":""}`, []wire.Attachment{}, fault.EmptyPrompt},
		"a bad one":     {`{"text":"hi"}`, []wire.Attachment{{Kind: "image", URL: "file:///a.png"}}, fault.InvalidRequest},
	} {
		if _, _, err := (Draft{Content: []byte(c.content), Attachments: c.attachments}).check(); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
}

func TestContentIsKeptButForItsWhitespace(t *testing.T) {
	d, text, err := Draft{Content: []byte("{ \"text\": \"a  <b> \\u2028 é\",\n\"n\": 1.0 }")}.check()
	if err != nil || text != "a  <b> \u2028 é" || string(d.Content) != `{"text":"a  <b> \u2028 é","n":1.0}` || d.ContentType != Text {
		t.Fatalf("%s, %q, %v", d.Content, text, err)
	}
}

func TestClientMessageIDsAreLowerCaseUUIDs(t *testing.T) {
	const good = "0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"
	for s, ok := range map[string]bool{
		good: true, uuid.NewString(): true, strings.ToUpper(good): false, "{" + good + "}": false, "urn:uuid:" + good: false,
		strings.ReplaceAll(good, "-", ""): false, "": false, good[:35] + "g": false,
	} {
		if _, err := ParseClientMsgID(s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func FuzzPageMark(f *testing.F) {
	f.Add(paging.Mark{At: time.UnixMicro(1_700_000_000_000_000), ID: string(id.NewSession())}.String())
	f.Add("")
	f.Add("MTIz")
	f.Fuzz(func(t *testing.T, s string) {
		mark, err := ParsePageMark(s)
		if err == nil && mark.String() != s {
			t.Fatalf("%q reads as %q", s, mark.String())
		}
		if err != nil && fault.CodeOf(err) != fault.CursorInvalid {
			t.Fatalf("%q: %v", s, err)
		}
	})
}

func FuzzParseMemberID(f *testing.F) {
	f.Add(string(id.NewUser()))
	f.Add(string(id.NewAgent()))
	f.Add("agent_x")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMemberID(s)
		if err != nil {
			return
		}
		user, isUser := m.User()
		agent, isAgent := m.Agent()
		if isUser == isAgent || string(m) != s || (string(user) != s && string(agent) != s) {
			t.Fatalf("%q is %q", s, m)
		}
	})
}
