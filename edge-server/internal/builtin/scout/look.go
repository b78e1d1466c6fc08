package scout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// findings is what scout has seen.
type findings struct {
	listing  listing
	noGit    string // why there is no history, for people; "" when there is one
	commits  []commit
	biggest  []detail
	files    []fileFinding
	unknown  []string // names in the question that mean no file
	searches []hits
}

// detail is a commit that scout looked at more closely.
type detail struct {
	commit commit
	text   string
}

// fileFinding is a file that the question named.
type fileFinding struct {
	name    string
	text    fileText
	history []commit
}

const (
	maxDetails     = 3
	maxFilesRead   = 3
	commitsPerFile = 5
)

func (s *session) lookAtFiles(ctx context.Context) error {
	if err := s.voice.think(ctx, "First I look at what is here.\n"); err != nil {
		return err
	}
	l, err := use(ctx, s.tools, "list_files", map[string]any{}, s.tools.list)
	if err == nil {
		s.found.listing = l
	}
	return s.tools.stop(ctx)
}

func (s *session) lookAtHistory(ctx context.Context) error {
	if !s.found.listing.Git {
		s.found.noGit = "This folder is not a git repository (or git is not installed), so there is no history to read."
		return s.voice.think(ctx, "There is no git history here, so I can only look at the files.\n")
	}
	plan := fmt.Sprintf("Now the last %d commits", s.asked.commits)
	args := map[string]any{"limit": s.asked.commits}
	if s.asked.since != "" {
		plan += ", not older than " + s.asked.since
		args["since"] = s.asked.since
	}
	if err := s.voice.think(ctx, plan+".\n"); err != nil {
		return err
	}
	commits, err := use(ctx, s.tools, "git_log", args, func(ctx context.Context) ([]commit, error) {
		all, err := s.tools.git.log(ctx, s.asked.commits, s.asked.since, "")
		s.found.commits = all
		return shown(all), err
	})
	if err != nil {
		s.found.noGit = "The history could not be read: " + firstLine(err.Error()) + "."
	}
	if len(commits) == 0 {
		return s.tools.stop(ctx)
	}
	return s.lookAtBiggest(ctx)
}

func shown(all []commit) []commit {
	out := make([]commit, len(all))
	for i, c := range all {
		out[i] = c.shown()
	}
	return out
}

// lookAtBiggest reads the commits that changed most: the history's subjects alone do not say what they were about.
func (s *session) lookAtBiggest(ctx context.Context) error {
	biggest := slices.Clone(s.found.commits)
	slices.SortStableFunc(biggest, func(a, b commit) int { return cmp.Compare(b.size(), a.size()) })
	biggest = biggest[:min(maxDetails, len(biggest))]
	if err := s.voice.think(ctx, fmt.Sprintf("%s. I read the %d that changed most.\n", plural(len(s.found.commits), "commit"), len(biggest))); err != nil {
		return err
	}
	for _, c := range biggest {
		text, err := use(ctx, s.tools, "git_show", map[string]any{"commit": c.Hash}, func(ctx context.Context) (string, error) {
			return s.tools.git.show(ctx, c.Hash)
		})
		if err == nil {
			s.found.biggest = append(s.found.biggest, detail{c, text})
		}
		if err := s.tools.stop(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) lookAtFilesAskedFor(ctx context.Context) error {
	for _, name := range s.asked.names {
		files := s.found.listing.find(name)
		if len(files) == 0 {
			s.found.unknown = append(s.found.unknown, name)
			continue
		}
		if err := s.voice.think(ctx, fmt.Sprintf("The question names %s: %s here. I read on there.\n", name, plural(len(files), "file"))); err != nil {
			return err
		}
		for _, file := range files[:min(len(files), maxFilesRead)] {
			if err := s.lookAtFile(ctx, file); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) lookAtFile(ctx context.Context, file string) error {
	shownName := map[string]any{"path": valid(file)}
	found := fileFinding{name: valid(file)}
	text, err := use(ctx, s.tools, "read_file", shownName, func(context.Context) (fileText, error) { return s.tools.read(file) })
	if err == nil {
		found.text = text
	}
	if s.found.listing.Git && s.found.noGit == "" {
		args := map[string]any{"limit": commitsPerFile, "path": valid(file)}
		found.history, _ = use(ctx, s.tools, "git_log", args, func(ctx context.Context) ([]commit, error) {
			all, err := s.tools.git.log(ctx, commitsPerFile, "", file)
			return shown(all), err
		})
	}
	s.found.files = append(s.found.files, found)
	return s.tools.stop(ctx)
}

func (s *session) lookForWords(ctx context.Context) error {
	for _, word := range s.asked.words {
		if err := s.voice.think(ctx, "I search for “"+word+"”.\n"); err != nil {
			return err
		}
		h, err := use(ctx, s.tools, "search", map[string]any{"word": word}, func(ctx context.Context) (hits, error) {
			return s.tools.search(ctx, word, s.found.listing.names)
		})
		if err == nil {
			s.found.searches = append(s.found.searches, h)
		}
		if err := s.tools.stop(ctx); err != nil {
			return err
		}
	}
	return nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
