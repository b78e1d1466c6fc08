package testpg

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// binaries are the two programs a server needs, of one version.
type binaries struct{ initdb, postgres string }

// Debian keeps the server programs of each version out of PATH, Red Hat and Homebrew do likewise.
var outsidePath = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
}

var errNotInstalled = errors.New("no folder with both initdb and postgres in PATH or in " + strings.Join(outsidePath, ", "))

// findBinaries looks in PATH first, then in the usual folders, the newest version first.
func findBinaries() (binaries, error) {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), versionFolders()...) {
		found := binaries{initdb: filepath.Join(dir, "initdb"), postgres: filepath.Join(dir, "postgres")}
		if isProgram(found.initdb) && isProgram(found.postgres) {
			return found, nil
		}
	}
	return binaries{}, errNotInstalled
}

func versionFolders() []string {
	var found []string
	for _, pattern := range outsidePath {
		matches, _ := filepath.Glob(pattern) // the only error is a bad pattern, and these are ours
		slices.SortFunc(matches, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
		found = append(found, matches...)
	}
	return found
}

// version reads the number out of …/postgresql/15/bin or …/pgsql-15/bin; 0 if there is none.
func version(dir string) float64 {
	name := filepath.Base(filepath.Dir(dir))
	digits := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz-@")
	number, _ := strconv.ParseFloat(digits, 64)
	return number
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
