package omni_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// The interfaces of S1, field by field and in their order. The TypeScript SDK is held to the same list.
func TestTheShapesHaveTheFieldsOfTheSeed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "interfaces.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]string
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{"OmniMessage": {"timestamp", "type", "payload", "origin?"}} // Message, which is no struct of fields
	for _, s := range omni.Shapes() {
		if s.Group == omni.Later {
			continue
		}
		keys := keysOf(s.Fields())
		if s.Role != "" {
			keys = slices.Insert(keys, 0, "role")
		}
		if s.Type != "" {
			keys = slices.Insert(keys, 0, "type")
		}
		got[seedName(s.Name())] = keys
		for _, f := range s.Fields() {
			if f.Of != "" {
				got[f.Of] = keysOf(f.Fields)
			}
		}
	}
	for name, keys := range want {
		if !slices.Equal(got[name], keys) {
			t.Errorf("%s has %q, want %q", name, got[name], keys)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("the seed has no %v", got)
	}
}

func keysOf(fields []omni.Field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.Name
		if f.Optional {
			keys[i] += "?"
		}
	}
	return keys
}

// seedName spells initials as the seed does.
func seedName(name string) string { return strings.ReplaceAll(name, "URL", "Url") }
