package story

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/modproxy"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	repositoryPath = "github.com/switchyard-dev/switchyard/"
	sdk            = repositoryPath + "hub-server/client"
	sdkVersion     = "v1.2.3"
)

// outsider is somebody with a go command, a module proxy and an empty folder.
type outsider struct {
	t   *testing.T
	dir string
	env []string
}

// newOutsider serves the SDK and what it requires of this repository. Whatever else it requires comes from where this machine gets modules, from
// its own cache first.
func newOutsider(t *testing.T) *outsider {
	t.Helper()
	proxy, o := t.TempDir(), &outsider{t: t, dir: t.TempDir()}
	repository := release(t, sdkVersion)
	for _, folder := range []string{"shared", "hub-server/client"} {
		version := module.Version{Path: repositoryPath + folder, Version: sdkVersion}
		if err := modproxy.Add(proxy, filepath.Join(repository, filepath.FromSlash(folder)), version); err != nil {
			t.Fatal(err)
		}
	}
	known := strings.Split(strings.TrimSpace(o.run("go", "env", "GOMODCACHE", "GOPROXY")), "\n")
	for name, value := range map[string]string{
		"GOWORK": "off", "GOFLAGS": "-mod=mod -modcacherw", "GOMODCACHE": t.TempDir(), "GOSUMDB": "off",
		"GOPROXY": "file://" + proxy + ",file://" + filepath.Join(known[0], "cache", "download") + "," + known[1],
	} {
		o.env = append(o.env, name+"="+value)
	}
	return o
}

// release runs scripts/release.sh over a copy of what it is about, as a repository of its own, and returns its folder with the tagged state.
func release(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"shared", "hub-server/client", "scripts"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(rig.Root(), folder))); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"hub-server", "edge-server", "deploy/e2e"} {
		mod, err := os.ReadFile(filepath.Join(rig.Root(), folder, "go.mod"))
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Join(dir, folder), 0o700), os.WriteFile(filepath.Join(dir, folder, "go.mod"), mod, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tags := []string{"shared/" + version, "hub-server/client/" + version}
	for _, command := range [][]string{
		{"git", "init", "-q"}, {"git", "add", "-A"}, {"git", "commit", "-qm", "all"},
		{"sh", "scripts/release.sh", version},
		append([]string{"git", "diff", "--exit-code"}, tags...), // both are of one state,
		{"git", "diff", "--exit-code", "HEAD"},                  // of which nothing is left uncommitted
	} {
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	return dir
}

// run runs a command in the outsider's folder and returns what it prints.
func (o *outsider) run(name string, args ...string) string {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), 5*rig.Patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = o.dir, append(os.Environ(), o.env...)
	out, err := c.Output()
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		o.t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, exit.Stderr)
	}
	return string(out)
}

func (o *outsider) write(name string, content []byte) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), content, 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// The SDK must work for who has neither this repository nor its workspace.
func TestAnOutsiderInstallsTheGoSDKAndFollowsARun(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "40")
	o := newOutsider(t)
	program, err := os.ReadFile(filepath.Join("testdata", "outsider", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	o.write("main.go", program)
	sums, err := os.ReadFile(filepath.Join(rig.Root(), "hub-server", "client", "go.sum")) // in place of a checksum database
	if err != nil {
		t.Fatal(err)
	}
	o.write("go.sum", sums)
	o.run("go", "mod", "init", "example.org/notes")
	o.run("go", "get", sdk+"@latest")
	o.run("go", "build", "-o", "notes", ".")
	if used := o.run("go", "list", "-m", sdk); !strings.Contains(used, sdkVersion) || strings.Contains(used, "=>") {
		t.Errorf("installed %s", used)
	}
	out := o.run(filepath.Join(o.dir, "notes"), s.HubURL(), rig.Username, rig.Password, s.session)

	found := regexp.MustCompile(`(?m)^(run_[0-9a-f]+) ([0-9a-f]{64})$`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("it printed no run:\n%s", out)
	}
	log := s.Owner().Log(id.Run(found[1]))
	if got, want := found[2], client.LogDigest(log); got != want {
		t.Errorf("it saw the log as %s, it is %s", got, want)
	}
	if said := wordsOf(t, log); said == "" || !strings.HasPrefix(out, said) {
		t.Errorf("it printed\n%q, the agent said\n%q", out, said)
	}
}

// wordsOf is what an agent said in a run, by its log.
func wordsOf(t *testing.T, log []client.RunEvent) string {
	t.Helper()
	var b strings.Builder
	for _, e := range log {
		payload, err := json.Marshal(client.AgentStreamPayload{TaskID: e.RunID, EventSeq: e.EventSeq, EventType: e.WireType, Payload: string(e.Payload)})
		if err != nil {
			t.Fatal(err)
		}
		_, words := client.Words(client.HubWebSocketFrame{Type: client.HubWebSocketFrameTypeAgentStream, Payload: payload})
		b.WriteString(words)
	}
	return b.String()
}
