package scout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

const (
	maxText   = 8 << 10 // bytes of a text in the result of a tool
	maxRead   = 256 << 10
	maxWalk   = 20_000 // files looked at where there is no git
	maxListed = 40
)

// listing is what list_files shows.
type listing struct {
	Files      int            `json:"files"`
	Git        bool           `json:"git"` // the files are those that git knows
	Truncated  bool           `json:"truncated,omitempty"`
	Extensions map[string]int `json:"extensions"`
	Top        []string       `json:"top"` // names at the top level

	names []string
}

// list returns the files of the workspace: those that git tracks or would, else those that are there.
func (t *toolbox) list(ctx context.Context) (listing, error) {
	out, err := t.git.run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err == nil {
		names := slices.DeleteFunc(strings.Split(string(out), "\x00"), func(name string) bool { return name == "" })
		return describe(names, true, false), nil
	}
	if t.root == nil {
		return listing{}, errors.New("the workspace cannot be entered")
	}
	names, truncated, err := walk(t.root.FS())
	return describe(names, false, truncated), err
}

// walk lists what is there, without hidden folders.
func walk(from fs.FS) (names []string, truncated bool, err error) {
	err = fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what may not be read is not there for us
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		case len(names) == maxWalk:
			truncated = true
			return fs.SkipAll
		}
		names = append(names, name)
		return nil
	})
	return names, truncated, err
}

func describe(names []string, fromGit, truncated bool) listing {
	l := listing{Files: len(names), Git: fromGit, Truncated: truncated, Extensions: map[string]int{}, Top: []string{}, names: names}
	for _, name := range names {
		ext := path.Ext(name)
		if ext == "" || ext == path.Base(name) {
			ext = "(none)"
		}
		l.Extensions[valid(ext)]++
		top, _, deep := strings.Cut(valid(name), "/")
		if deep {
			top += "/"
		}
		if !slices.Contains(l.Top, top) && len(l.Top) < maxListed {
			l.Top = append(l.Top, top)
		}
	}
	slices.Sort(l.Top)
	return l
}

// find returns the files that a name in a question may mean: that path, else everything in that folder or of that name.
func (l listing) find(name string) []string {
	name = strings.TrimSuffix(path.Clean(name), "/")
	if slices.Contains(l.names, name) {
		return []string{name}
	}
	var found []string
	for _, file := range l.names {
		base := path.Base(file)
		if strings.EqualFold(base, name) || strings.TrimSuffix(base, path.Ext(base)) == name || strings.HasSuffix(file, "/"+name) ||
			strings.HasPrefix(file, name+"/") {
			found = append(found, file)
		}
	}
	return found
}

// fileText is what read_file shows.
type fileText struct {
	Lines int    `json:"lines"`
	Bytes int64  `json:"bytes"`
	Head  string `json:"head"`
}

// read returns the beginning of a regular file of the workspace. No link leads out of it.
func (t *toolbox) read(name string) (fileText, error) {
	if t.root == nil {
		return fileText{}, errors.New("the workspace cannot be entered")
	}
	// Without O_NONBLOCK the open of a FIFO would wait for a writer.
	file, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fileText{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fileText{}, err
	}
	if !info.Mode().IsRegular() {
		return fileText{}, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxRead))
	if err != nil {
		return fileText{}, err
	}
	text := valid(string(data))
	if strings.ContainsRune(text, 0) {
		return fileText{Bytes: info.Size(), Head: "(binary)"}, nil
	}
	return fileText{Lines: strings.Count(text, "\n"), Bytes: info.Size(), Head: clip(text, maxText)}, nil
}

// clip cuts a long text at the end of a line.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := strings.ToValidUTF8(text[:limit], "")
	if i := strings.LastIndexByte(cut, '\n'); i > 0 {
		cut = cut[:i+1]
	}
	return cut + "…\n"
}
