package profile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Set is what one edge can run, by name.
type Set map[Name]Profile

// Sorted returns the profiles by name.
func (s Set) Sorted() []Profile {
	all := make([]Profile, 0, len(s))
	for _, p := range s {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Profile) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return all
}

// Load returns the built-in profiles and those of folder, which win. A file that cannot be used is logged and left out: it must not keep the
// others from running. A folder that does not exist is empty.
func Load(folder string, lookup func(string) (string, bool), log *slog.Logger) (Set, error) {
	set := Set{}
	for _, p := range builtins(lookup) {
		set[p.Name] = p
	}
	if sentence, missing := chatMissing(lookup); missing {
		log.Info("the built-in chat agent is not offered", "reason", sentence)
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read profiles: %w", err)
	}
	for _, entry := range entries {
		ext := filepath.Ext(entry.Name())
		if entry.IsDir() || (ext != ".yaml" && ext != ".yml") {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		p, problems, err := ReadFile(path)
		switch {
		case err != nil:
			log.Error("profile cannot be read", "file", path, "error", err)
		case problems.Faulty():
			log.Error("profile is not usable", "file", path, "problems", problems.String())
		default:
			set.add(p, path, problems, log)
		}
	}
	return set, nil
}

func (s Set) add(p Profile, path string, problems Problems, log *slog.Logger) {
	if len(problems) > 0 {
		log.Warn("profile has problems", "file", path, "problems", problems.String())
	}
	s[p.Name] = p
}

// ReadFile parses one file. The error is that of reading it; what is wrong with its content is in the problems.
func ReadFile(path string) (Profile, Problems, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Profile{}, nil, fmt.Errorf("read profile: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return Profile{}, nil, fmt.Errorf("read profile: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return Profile{}, nil, fmt.Errorf("read profile: %w", err)
	}
	base := filepath.Base(path)
	p, problems := Parse(data, Name(strings.TrimSuffix(base, filepath.Ext(base))), filepath.Dir(path))
	return p, problems, nil
}
