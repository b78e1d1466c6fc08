package typescript

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/npm"
)

// The examples of the README are TypeScript as well, and hold under the strictest settings, for programs of Node and for pages.
func TestAStrangersCompilerTakesTheTypesAndTheExamples(t *testing.T) {
	sdk := npm.Pack(t)
	for heading, libraries := range map[string]string{"In Node": "ES2022", "Cards": "ES2022", "In a browser": "ES2022,DOM"} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "example.mts"), []byte(example(t, heading)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(sdk.Outside, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
			t.Fatal(err)
		}
		types := map[string]string{"In Node": "node", "Cards": "node", "In a browser": ""}[heading]
		compile := exec.CommandContext(t.Context(), sdk.Compiler(), "--noEmit", "--strict", "--module", "nodenext", "--target", "es2022",
			"--lib", libraries, "--types", types, "--typeRoots", sdk.TypeRoots(), "example.mts")
		compile.Dir = folder
		if out, err := compile.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", heading, err, out)
		}
	}
}
