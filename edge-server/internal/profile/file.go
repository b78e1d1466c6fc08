package profile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// File is a profile's file, as it was when it was read.
type File struct {
	Path     string // absolute
	Profile  Profile
	Problems Problems // the profile can be used unless they are faulty
	unread   bool     // the system did not let it be read
}

// ReadFile reads one file and compares it with this machine: what the profile names and edge does not have is a warning. A file that cannot
// be read is a faulty one.
func ReadFile(path string, edge Edge) File {
	path, err := filepath.Abs(path)
	name := Name(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	data, readErr := content(path)
	if err := errors.Join(err, readErr); err != nil {
		f := File{Path: path, Profile: named(name, filepath.Dir(path)), unread: true}
		f.Problems.fault(place{}, "the file cannot be read: %v", bare(err))
		return f
	}
	r := parse(data, name, filepath.Dir(path))
	if !r.problems.Faulty() {
		r.onThisMachine(edge)
		r.problems.sort()
	}
	return File{Path: path, Profile: r.profile, Problems: r.problems}
}

// ReadFiles reads several. Of files of one folder that name the same agent the first one has it.
func ReadFiles(paths []string, edge Edge) []File {
	files := make([]File, 0, len(paths))
	owner := map[string]string{}
	for _, path := range paths {
		f := ReadFile(path, edge)
		agent := filepath.Join(f.Profile.Dir, string(f.Profile.Name))
		if first, taken := owner[agent]; taken && first != f.Path {
			f.Problems = f.taken(first)
		} else {
			owner[agent] = f.Path
		}
		files = append(files, f)
	}
	return files
}

// taken are the problems of a file whose agent is that of another.
func (f File) taken(first string) Problems {
	problems := slices.Clone(f.Problems)
	problems.fault(place{}, "the agent %s is that of %s already", f.Profile.Name, filepath.Base(first))
	return problems
}

// bare is what the system said, without the path: whoever shows the problem names it.
func bare(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

func content(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe must not hold anybody up
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}

// Files returns the paths of the profiles in a folder, sorted. A folder that does not exist has none.
func Files(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read profiles: %w", err)
	}
	var paths []string
	for _, entry := range entries {
		hidden := strings.HasPrefix(entry.Name(), ".") // of editors, mostly: it could name no agent
		if !hidden && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(entry.Name())) {
			paths = append(paths, filepath.Join(folder, entry.Name()))
		}
	}
	return paths, nil
}
