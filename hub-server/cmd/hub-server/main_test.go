package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// do runs a command with HUB_HOME at home and returns what it says.
func do(t *testing.T, home, command string) string {
	t.Helper()
	t.Setenv("HUB_HOME", home)
	var args arguments
	args.Archive.Show.Run, args.Archive.Show.View = "run_00000000000000a1", "lean"
	args.Check = command == "migrate --check"
	args.Backup.File = filepath.Join(t.TempDir(), "backup")
	if err := run(t.Context(), strings.TrimSuffix(command, " --check"), args); err != nil {
		return err.Error()
	}
	return ""
}

func TestACommandThatLooksInTheWrongHomeSaysWhichSettingNamesIt(t *testing.T) {
	home := t.TempDir()
	for _, command := range []string{
		"archive list", "archive verify", "archive show <run>", "audit list", "audit verify", "backup <file>", "migrate --check",
	} {
		said := do(t, home, command)
		for _, want := range []string{filepath.Join(home, "hub.db"), "set HUB_HOME", "HUB_DATABASE_URL"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s says %q, not %q", command, said, want)
			}
		}
	}
	if said := do(t, home, "rotate-keys"); !strings.Contains(said, "set HUB_HOME") || !strings.Contains(said, "keys.json") {
		t.Errorf("rotate-keys says %q", said)
	}
}

func TestAnAuditOfARestoredStoreSaysWhoseKeysItNeeds(t *testing.T) {
	home := t.TempDir()
	if said := do(t, home, "migrate"); said != "" {
		t.Fatal(said)
	}
	said := do(t, home, "audit verify")
	for _, want := range []string{"HUB_KEYS_FILE", filepath.Join(home, "keys.json"), "copy keys.json of the hub that made the backup"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, not %q", said, want)
		}
	}
}
