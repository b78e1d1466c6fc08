package chat

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestWhatIsWrongWithAContentIsSaidWithItsPath(t *testing.T) {
	for _, c := range []struct {
		kind          ContentType
		content, says string // "" says nothing: it is taken
	}{
		{Code, `{"code":"x := 1","language":"go","filename":"main.go"}`, ""},
		{Code, `{"language":"go"}`, "content.code is missing; code needs it."},
		{Code, `{"code":" \n"}`, "content.code is empty."},
		{Code, `{"code":7}`, "content.code must be a string."},
		{Code, `{"code":null}`, "content.code must be a string."},
		{Code, `{"code":"x","language":"a\nb"}`, "content.language must be one line."},
		{Code, `{"code":"x","text":"y"}`, "content.text is no field of code."},
		{Code, `{"code":"x","` + strings.Repeat("é", 90) + `":1}`, "content." + strings.Repeat("é", 40) + "… is no field of code."},
		{Diff, `{"diff":"--- a\n+++ b\n","title":"mend"}`, ""},
		{Diff, `{}`, "content.diff is missing; diff needs it."},
		{Image, `{"url":"https://example.com/a.png","width":65535,"height":1,"alt":""}`, ""},
		{Image, `{"url":"data:image/png;base64,AA=="}`, ""},
		{Image, `{"alt":"a cat"}`, "content.url is missing; without it, attach the image."},
		{Image, `{"url":"file:///etc/passwd"}`, "content.url must be an address that begins with http: or https: or data:."},
		{Image, `{"url":"https://x/","width":0}`, "content.width must be a whole number from 1 to 65535."},
		{Image, `{"url":"https://x/","width":1.5}`, "content.width must be a whole number from 1 to 65535."},
		{Image, `{"url":"https://x/","width":"9"}`, "content.width must be a whole number from 1 to 65535."},
		{File, `{"url":"https://x/a.bin","filename":"a.bin","mime_type":"text/plain","size":0}`, ""},
		{File, `{"url":"https://x/","size":-1}`, "content.size must be a whole number from 0 to 9223372036854775807."},
		{File, `{}`, "content.url is missing; without it, attach the file."},
		{LinkCard, `{"url":"https://example.com/","title":"An example"}`, ""},
		{LinkCard, `{"url":"javascript:alert(1)","title":"x"}`, "content.url must be an address that begins with http: or https:."},
		{LinkCard, `{"url":"https:x","title":"x"}`, "content.url must be a whole address."},
		{LinkCard, `{"url":"https://x/","title":"` + strings.Repeat("x", 201) + `"}`, "content.title is too long: at most 200 bytes."},
		{LinkCard, `{"url":"https://x/` + strings.Repeat("x", 2048) + `","title":"x"}`, "content.url is too long."},
		{DeployCard, `{"title":"web","status":"succeeded","environment":"production","url":"https://x/","version":"1.2"}`, ""},
		{DeployCard, `{"title":"web","status":"done"}`, "content.status must be one of queued, running, succeeded, failed, cancelled."},
		{DeployCard, `{"title":"web"}`, "content.status is missing; deploy_card needs it."},
		{"video", `{"url":"https://x/"}`, "content_type must be one of text, code, diff, image, file, link_card, deploy_card."},
	} {
		_, _, err := Draft{ContentType: c.kind, Content: []byte(c.content)}.check()
		said := ""
		if err != nil {
			said = fault.Public(err).Detail
		}
		if said != c.says || err != nil && fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s %.60s: %q (%v), want %q", c.kind, c.content, said, fault.CodeOf(err), c.says)
		}
	}
	for _, kind := range []ContentType{Image, File} {
		attached := []wire.Attachment{{Kind: "file", URL: "https://example.com/a"}}
		if _, _, err := (Draft{ContentType: kind, Content: []byte(`{"caption":"look"}`), Attachments: attached}).check(); err != nil {
			t.Errorf("an attached %s: %v", kind, err)
		}
	}
}

func TestContentsHaveTheShapesOfTheContract(t *testing.T) {
	doc, err := apicontract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	schemas := doc.Components.Schemas
	raw, err := json.Marshal(schemas["MessageContent"].Value.Extensions["x-content-schemas"])
	if err != nil {
		t.Fatal(err)
	}
	var named map[ContentType]string
	if err := json.Unmarshal(raw, &named); err != nil {
		t.Fatal(err)
	}
	var listed []ContentType
	for _, kind := range schemas["ContentType"].Value.Enum {
		listed = append(listed, ContentType(kind.(string)))
	}
	slices.Sort(listed)
	if kinds := slices.Sorted(maps.Keys(named)); !slices.Equal(kinds, listed) || len(kinds) != len(shapes)+1 {
		t.Fatalf("the contract lists %v and has schemas of %v; the code has %d", listed, kinds, len(shapes)+1)
	}
	for kind, shape := range shapes {
		schema := schemas[strings.TrimPrefix(named[kind], "#/components/schemas/")].Value
		if got, want := slices.Sorted(maps.Keys(shape)), slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(got, want) {
			t.Errorf("%s has %v, in the contract %v", kind, got, want)
		}
		for name, f := range shape {
			if f.required != slices.Contains(schema.Required, name) {
				t.Errorf("%s.%s: required %v", kind, name, f.required)
			}
		}
	}
}

// A message through another door than /v1/ws may have anything in its content.
func TestOnlyAMannerThatThereIsGoesToTheAgent(t *testing.T) {
	both := wire.Manner{CoordinatorMode: "react", PlanConfirmation: "auto"}
	for content, want := range map[string]wire.Manner{
		`{"text":"x","coordinator_mode":"react","plan_confirmation":"auto"}`:     both,
		`{"text":"x","coordinator_mode":"plan"}`:                                 {CoordinatorMode: "plan"},
		`{"text":"x","coordinator_mode":"PLAN","plan_confirmation":"required"}`:  {PlanConfirmation: "required"},
		`{"text":"x","coordinator_mode":7,"plan_confirmation":"required"}`:       {},
		`{"text":"x","coordinator_mode":"plan; rm","plan_confirmation":"never"}`: {},
		`{"text":"x"}`: {},
	} {
		if got := (Message{ContentType: Text, Content: []byte(content)}).manner(); got != want {
			t.Errorf("%s asks for %+v, want %+v", content, got, want)
		}
	}
	if got := (Message{ContentType: "code", Content: []byte(`{"coordinator_mode":"plan"}`)}).manner(); got != (wire.Manner{}) {
		t.Errorf("code asks for %+v", got)
	}
}
