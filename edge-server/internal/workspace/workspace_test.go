package workspace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEachAgentHasAPrivateDirectoryThatStays(t *testing.T) {
	store := NewStore(filepath.Join(t.TempDir(), "workspaces"))
	session, agent := id.NewSession(), id.NewAgent()
	first, err := store.Directory(session, agent)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(first)
	if err != nil || info.Mode().Perm() != 0o700 || !filepath.IsAbs(first) {
		t.Fatalf("%s: %v, %v", first, info, err)
	}
	again, err := store.Directory(session, agent)
	if err != nil || again != first {
		t.Errorf("again: %s, %v", again, err)
	}
	if other, err := store.Directory(session, id.NewAgent()); err != nil || other == first {
		t.Errorf("another agent: %s, %v", other, err)
	}
}

func TestIdsThatAreNoneMakeNoPath(t *testing.T) {
	store := NewStore(t.TempDir())
	if _, err := store.Directory("../../etc", id.NewAgent()); !errors.Is(err, id.ErrMalformed) {
		t.Error(err)
	}
	if _, err := store.Directory(id.NewSession(), "agent_../x"); !errors.Is(err, id.ErrMalformed) {
		t.Error(err)
	}
}

func TestRepositoryIsFoundFromInside(t *testing.T) {
	root := t.TempDir()
	inside := filepath.Join(root, "repo", "a", "b")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Repository("/"); got != "" {
		t.Errorf("the root folder is a repository: %q", got)
	}
	if err := os.Mkdir(filepath.Join(root, "repo", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Repository(inside); got != inside {
		t.Errorf("got %q", got)
	}
}

// SEC21: what a file of the workspace is, and everything that only looks like one.
func TestOnlyRegularFilesOfTheWorkspaceComeOut(t *testing.T) {
	root := t.TempDir()
	dir, secret := filepath.Join(root, "w"), filepath.Join(root, "secret")
	must(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "a file.md"), []byte("mine"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "sub", "..x"), []byte("mine"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "%2e%2e"), []byte("mine"), 0o600))
	must(t, os.Symlink("a file.md", filepath.Join(dir, "link in")))
	must(t, os.Symlink(secret, filepath.Join(dir, "link out")))
	must(t, os.Symlink("../secret", filepath.Join(dir, "relative out")))
	must(t, os.Symlink(root, filepath.Join(dir, "folder out")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	must(t, os.Link(secret, filepath.Join(dir, "hard link")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	big, err := os.Create(filepath.Join(dir, "big"))
	must(t, err)
	must(t, big.Truncate(MaxFile+1))
	must(t, big.Close())

	for _, name := range []string{"a file.md", "./a file.md", "sub/../a file.md", "sub/..x", "%2e%2e", "link in", filepath.Join(dir, "a file.md")} {
		if got, err := read(dir, name); err != nil || got != "mine" {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	refused := map[string]fault.Code{
		"": fault.InvalidRequest, "a\x00b": fault.InvalidRequest, "../secret": fault.InvalidRequest, "sub/../../secret": fault.InvalidRequest,
		secret: fault.InvalidRequest, dir + "/../secret": fault.InvalidRequest, "link out": fault.InvalidRequest,
		"relative out": fault.InvalidRequest, "folder out/secret": fault.InvalidRequest, "dangling": fault.NotFound, "missing": fault.NotFound,
		"hard link": fault.InvalidRequest, "fifo": fault.InvalidRequest, "sub": fault.InvalidRequest, ".": fault.InvalidRequest,
		"big": fault.TooLarge, "%2e%2e/secret": fault.InvalidRequest,
	}
	for name, code := range refused {
		got, err := read(dir, name)
		if fault.CodeOf(err) != code || strings.Contains(got, "secret") {
			t.Errorf("%q: %q, %v; want %s", name, got, err, code)
		}
	}
}

func read(dir, name string) (string, error) {
	file, err := OpenFile(dir, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	return string(data), err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
