package security

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// SEC27: what is kept is for its owner alone, while everything runs and after a crash.
func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	edge := r.AddEdge("laptop", map[string]string{"worker": r.TestAgent("--events", "20", "--artifact", "report.md")})
	device := r.Device("a", r.HubURL())
	seen := device.Watch()
	seen.UntilConnected(1)
	seen.UntilSettled(device.Run(device.Group("demo", "worker"), "@worker go"))
	for _, home := range []string{r.HubHome(), edge.Home} {
		mustBePrivate(t, home)
	}
	edge.Kill()
	r.KillHub()
	for _, home := range []string{r.HubHome(), edge.Home} {
		mustBePrivate(t, home)
	}
}

func TestAFileThatOthersCanReadIsFoundOut(t *testing.T) {
	for _, mode := range []fs.FileMode{0o604, 0o640, 0o660} {
		home := t.TempDir()
		if err := os.Chmod(home, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, "keys.json")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := exposed(t, home); len(got) != 0 {
			t.Errorf("found %q in a private folder", got)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got := exposed(t, home); len(got) != 1 {
			t.Errorf("mode %o: found %q, want the file", mode, got)
		}
	}
}

func mustBePrivate(t *testing.T, home string) {
	t.Helper()
	for _, what := range exposed(t, home) {
		t.Errorf("others can get at %s", what)
	}
}

// exposed lists what under home is not for its owner alone.
func exposed(t *testing.T, home string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			found = append(found, fmt.Sprintf("%s (%s)", path, info.Mode()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
