package agentline_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
)

func TestSchemaIsTheOneThatIsPublished(t *testing.T) {
	var got bytes.Buffer
	if err := agentline.WriteSchema(&got); err != nil {
		t.Fatal(err)
	}
	published := filepath.Join("..", "..", "api", "events-runtime.schema.json")
	if *update {
		if err := os.WriteFile(published, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("api/events-runtime.schema.json is not what the table says: go test ./agentline -run Schema -update")
	}
}

// TestShapesNameEveryFieldThatIsRead compares the table with the struct that lines are read into.
func TestShapesNameEveryFieldThatIsRead(t *testing.T) {
	named := map[string]bool{}
	for _, s := range agentline.Shapes() {
		for _, f := range s.Fields {
			named[f.Name] = true
		}
	}
	read := map[string]bool{ // by the bridge protocol
		"text": true, "role": true, "usage": true, "message": true, "input": true, "description": true, "tool_use_id": true,
	}
	line := reflect.TypeFor[agentline.Line]()
	for i := range line.NumField() {
		name, _, _ := strings.Cut(line.Field(i).Tag.Get("json"), ",")
		if name != "type" && name != "-" {
			read[name] = true
		}
	}
	if got, want := slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(read)); !slices.Equal(got, want) {
		t.Errorf("the table names\n\t%v\nlines are read into\n\t%v", got, want)
	}
}

// TestShapesAgreeWithWhatIsRead writes a line of each shape, with every field and with the needed ones only.
func TestShapesAgreeWithWhatIsRead(t *testing.T) {
	values := map[agentline.Kind]any{
		agentline.Text: "x", agentline.Number: 1, agentline.Flag: true, agentline.Object: map[string]any{"delta": "x", "partial_json": "{"}, agentline.Any: 7,
		agentline.Content: map[string]any{"path": "a.md"}, agentline.Failed: map[string]any{"code": "c", "message": "m"},
	}
	for _, s := range agentline.Shapes() {
		all := map[string]any{"type": strings.Replace(string(s.Type), "*", "anything", 1)}
		needed := maps.Clone(all)
		for _, f := range s.Fields {
			all[f.Name] = values[f.Kind]
			if f.Needed {
				needed[f.Name] = values[f.Kind]
			}
		}
		mustParse(t, all)
		mustParse(t, needed)
	}
}

func mustParse(t *testing.T, line map[string]any) {
	t.Helper()
	encoded, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agentline.Parse(encoded); err != nil {
		t.Errorf("%s: %v", encoded, err)
	}
}
