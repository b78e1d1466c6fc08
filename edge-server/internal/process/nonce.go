package process

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Nonce marks every process of one start: 32 lower-case hex digits, in its environment and in the journal.
type Nonce string

// NonceVariable is the environment variable that carries the Nonce.
const NonceVariable = "SWITCHYARD_START_NONCE"

const nonceDigits = 32

// NewNonce returns a nonce that no other call will make again.
func NewNonce() Nonce {
	raw := make([]byte, nonceDigits/2)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	return Nonce(hex.EncodeToString(raw))
}

func (n Nonce) valid() bool {
	_, err := hex.DecodeString(string(n))
	return err == nil && len(n) == nonceDigits
}

// infrastructure are the variables that an agent gets from the edge; nothing else is inherited (S4 §4.1).
func infrastructure() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TERM", "TMPDIR", "TZ",
	}
}

// Environment returns the whole environment of an agent that works in dir: the infrastructure variables of the edge as far as lookup knows
// them, PWD, then own, which wins, and the nonce, which nobody overrides.
func Environment(lookup func(string) (string, bool), dir string, own map[string]string, nonce Nonce) []string {
	vars := map[string]string{"PWD": dir}
	for _, name := range infrastructure() {
		if value, ok := lookup(name); ok {
			vars[name] = value
		}
	}
	for name, value := range own {
		vars[name] = value
	}
	vars[NonceVariable] = string(nonce)
	env := make([]string, 0, len(vars))
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// findExecutable resolves a bare name in PATH of env. A name with a slash stays as it is; relative ones are relative to the agent's
// directory, as for execve. Relative entries of PATH are skipped: the agent's directory is not ours to trust.
func findExecutable(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(valueOf(env, "PATH")) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%q is not in PATH: %w", name, fs.ErrNotExist)
}

func valueOf(env []string, name string) string {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}
