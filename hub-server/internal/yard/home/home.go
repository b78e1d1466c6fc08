// Package home keeps what the terminal client must not forget: the login, and for each device its own credentials and its place in the
// hub's order of frames. Everything lies in one folder of mode 0700, every file has mode 0600.
//
//	login.json            hub address and the account's credentials
//	devices/a.json        credentials of the device "a"; a-2.json is the next one of that name
//	devices/a.cursor      where that device stands
//	devices/a.lock        held by the connection that runs as that device
package home

import (
	"fmt"
	"os"
	"path/filepath"
)

// Folder of logins and cursors. Default: .switchyard/yard below the working directory if it exists, else the user's data folder.
const homeVariable = "YARD_HOME"

// Home is the folder of one person's terminal client. It need not exist yet.
type Home struct {
	dir string
}

// At returns the home in a folder.
func At(dir string) Home { return Home{dir: dir} }

// Locate finds the home: $YARD_HOME, else .switchyard/yard below the working directory if it exists (`make run` prepares it), else
// switchyard/yard in the user's data folder.
func Locate(getenv func(string) string, workDir string) (Home, error) {
	if dir := getenv(homeVariable); dir != "" {
		return At(dir), nil
	}
	prepared := filepath.Join(workDir, ".switchyard", "yard")
	if info, err := os.Stat(prepared); err == nil && info.IsDir() {
		return At(prepared), nil
	}
	if data := getenv("XDG_DATA_HOME"); data != "" {
		return At(filepath.Join(data, "switchyard", "yard")), nil
	}
	if user := getenv("HOME"); user != "" {
		return At(filepath.Join(user, ".local", "share", "switchyard", "yard")), nil
	}
	return Home{}, fmt.Errorf("no place for the login: set %s to a folder of yours", homeVariable)
}

// Dir is the folder.
func (h Home) Dir() string { return h.dir }

func (h Home) loginFile() string           { return filepath.Join(h.dir, "login.json") }
func (h Home) devicesDir() string          { return filepath.Join(h.dir, "devices") }
func (h Home) device(suffix string) string { return filepath.Join(h.devicesDir(), suffix) }

// prepare makes the folders, and closes them to others if they were open.
func (h Home) prepare() error {
	for _, dir := range []string{h.dir, h.devicesDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the folder of the login: %w", err)
		}
		if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder that cannot be entered is of no use
			return fmt.Errorf("close the folder of the login to others: %w", err)
		}
	}
	return nil
}
