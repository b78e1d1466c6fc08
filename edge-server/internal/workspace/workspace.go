// Package workspace is where agents work: a directory of its own for each agent in each conversation, and the one way in which a file leaves
// such a directory.
package workspace

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/shared/id"
)

const folderMode = 0o700

// Store is the folder that holds the directories.
type Store struct{ root string }

// NewStore returns the Store in folder, which need not exist yet.
func NewStore(folder string) Store { return Store{root: folder} }

// Directory returns the absolute path of an agent's directory in a conversation, made if it is not there: nobody but this user may enter it.
// It stays after the run: an agent finds its files again.
func (s Store) Directory(session id.Session, agent id.Agent) (string, error) {
	// The ids become path elements, and they come from outside.
	if _, err := id.ParseSession(string(session)); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	if _, err := id.ParseAgent(string(agent)); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	path, err := filepath.Abs(filepath.Join(s.root, string(session), string(agent)))
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	if err := os.MkdirAll(path, folderMode); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	return path, nil
}

// Repository returns dir if it lies in a git repository, else "": the workspace of an agent that only reads, when nobody named another.
func Repository(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return dir
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
