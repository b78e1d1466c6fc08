package typescript

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/npm"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// What a fresh clone has is enough: the commands of the README build, pack and install the SDK in an empty project, and Node imports it.
func TestTheReadmesCommandsInAFreshCloneGiveAFileThatInstalls(t *testing.T) {
	t.Parallel()
	npm.Need(t)
	clone, project := freshClone(t), t.TempDir()
	commands := readmeCommands(t)
	do(t, clone, commands[0]...) // npm ci
	do(t, clone, commands[1]...) // npm pack
	made, err := filepath.Glob(filepath.Join(clone, "*.tgz"))
	if err != nil || len(made) != 1 {
		t.Fatalf("npm pack made %q: %v", made, err)
	}
	if err := os.Rename(made[0], filepath.Join(project, filepath.Base(made[0]))); err != nil {
		t.Fatal(err)
	}
	do(t, project, commands[2]...) // npm install
	said := do(t, project, "node", "--input-type=module", "--eval", `import { Client, keyOf } from "@switchyard/client"; console.log(typeof Client, typeof keyOf)`)
	if strings.TrimSpace(said) != "function function" {
		t.Errorf("the import said %q", said)
	}
	inside, err := os.ReadDir(filepath.Join(project, "node_modules", "@switchyard", "client"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range inside {
		names = append(names, entry.Name())
	}
	if want := []string{"LICENSE", "README.md", "dist", "package.json"}; !slices.Equal(names, want) {
		t.Errorf("the package has %q, want %q", names, want)
	}
}

// freshClone is the repository's folder of the SDK as git has it: without what was built or installed beside it.
func freshClone(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "api/ts")
	list.Dir = rig.Root()
	files, err := list.Output()
	if err != nil {
		t.Fatalf("list the files of the repository: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(rig.Root(), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readmeCommands are those by which the README builds and installs the SDK.
func readmeCommands(t *testing.T) (commands [][]string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(rig.Root(), "api", "ts", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	for line := range strings.Lines(block) {
		command, _, _ := strings.Cut(line, "#")
		commands = append(commands, strings.Fields(command))
	}
	if len(commands) < 3 {
		t.Fatalf("the README has %d commands", len(commands))
	}
	return commands
}

func do(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "npm_config_prefer_offline=true", "npm_config_audit=false", "npm_config_fund=false")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}
