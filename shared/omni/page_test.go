package omni_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// holdPage holds the part of docs/protocols/omni.md that is generated, from a name to its end, to what it is generated from.
func holdPage(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "protocols", "omni.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := []byte("<!-- "+name+": cd shared && go test ./omni -run Page -update -->\n"), []byte("<!-- /"+name+" -->\n")
	before, rest, found := bytes.Cut(text, begin)
	old, after, ended := bytes.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks the marks %q and %q", path, begin, end)
	}
	if string(old) == want {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: %s", path, begin)
	}
	if err := os.WriteFile(path, bytes.Join([][]byte{before, begin, []byte(want), end, after}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPageHasTheTableOfTypes(t *testing.T) {
	var b strings.Builder
	b.WriteString("| group | `payload.type` | what it is | keys of the payload |\n|---|---|---|---|\n")
	for _, s := range omni.Shapes() {
		name := "none"
		if s.Type != "" {
			name = "`" + string(s.Type) + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.Group, name, s.Meaning, s.Keys())
	}
	holdPage(t, "types", b.String())
}
