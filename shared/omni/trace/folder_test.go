package trace_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

func TestTheFilesOfASample(t *testing.T) {
	dir := t.TempDir()
	folder := write(t, dir, sample(t))
	want := []string{"sess_0198_001.jsonl", "run_1%2Fscout_001.jsonl", "run_2_001.jsonl", "run_1%2Freader_001.jsonl", "sess_0198_002.jsonl"}
	if got := folder.Files(); !slices.Equal(got, want) {
		t.Fatalf("files are %v, want %v", got, want)
	}
	if *update {
		write(t, "testdata", sample(t))
	}
	if got := filesIn(t, dir); !maps.Equal(got, filesIn(t, "testdata")) {
		t.Errorf("the files are\n%v\nthose of testdata are\n%v", got, filesIn(t, "testdata"))
	}
	if folder.Written() != 24 || folder.Lines("sess_0198_001.jsonl") != 11 || folder.Lines("sess_0198_002.jsonl") != 3 {
		t.Errorf("%d written, %d lines and %d", folder.Written(), folder.Lines("sess_0198_001.jsonl"), folder.Lines("sess_0198_002.jsonl"))
	}
}

func TestNoCutLosesACompleteLineNorChangesWhatFollows(t *testing.T) {
	whole := filesIn(t, "testdata")
	stream, dir := sample(t), t.TempDir()
	write(t, dir, stream)
	for name, content := range whole {
		for cut := range len(content) + 1 {
			torn := content[:cut]
			lines, wrong := readAll(t, torn)
			ended, rest := strings.Count(torn, "\n"), torn[strings.LastIndexByte(torn, '\n')+1:]
			if rest != "" && strings.HasPrefix(content[cut:], "\n") { // all of the line but its end
				ended, rest = ended+1, ""
			}
			if len(lines) != ended || len(wrong) > 0 != (rest != "") || rest != "" && !errors.Is(wrong[0].Err, trace.ErrTorn) {
				t.Fatalf("%s cut at %d: %d lines of %d, wrong are %v", name, cut, len(lines), ended, wrong)
			}
			put(t, dir, name, torn)
			folder := write(t, dir, stream)
			if got := filesIn(t, dir); !maps.Equal(got, whole) {
				t.Fatalf("%s cut at %d became\n%s", name, cut, got[name])
			}
			if want := strings.Count(content[cut:], "\n"); folder.Written() != want {
				t.Fatalf("%s cut at %d: %d lines were written, want %d", name, cut, folder.Written(), want)
			}
		}
	}
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhatDiffersIsNotOverwritten(t *testing.T) {
	content := filesIn(t, "testdata")["sess_0198_001.jsonl"]
	lines := strings.SplitAfter(content, "\n")
	other := strings.Replace(content, "Let me look.", "Let me see. ", 1)
	for name, c := range map[string]struct {
		stands string
		line   int
		why    string
	}{
		"another line":      {other, 4, "sess_0198_001.jsonl differs at line 4"},
		"a shorter one":     {strings.Replace(content, "Let me look.", "Let me", 1), 4, "sess_0198_001.jsonl differs at line 4"},
		"a line too many":   {content + lines[2], 12, "sess_0198_001.jsonl goes on at line 12, behind the end of the conversation"},
		"a torn line more":  {content + `{"ti`, 12, "sess_0198_001.jsonl goes on at line 12, behind the end of the conversation"},
		"a torn other line": {lines[0] + `{"type`, 2, "sess_0198_001.jsonl differs at line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "sess_0198_001.jsonl", c.stands)
			folder, err := trace.OpenFolder(dir, session)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range sample(t) {
				if err = folder.Add(m); err != nil {
					break
				}
			}
			if err == nil {
				err = folder.Finish()
			}
			var differs *trace.Differs
			if !errors.As(err, &differs) || differs.Line != c.line || err.Error() != c.why {
				t.Fatalf("error is %v, want %s", err, c.why)
			}
			folder.Close()
			if got := filesIn(t, dir)["sess_0198_001.jsonl"]; got != c.stands {
				t.Fatalf("the file became\n%s", got)
			}
		})
	}
}

func TestACheckWritesNothing(t *testing.T) {
	stream := sample(t)
	whole := filesIn(t, "testdata")["sess_0198_002.jsonl"]
	check := func(content string) error {
		dir := t.TempDir()
		write(t, dir, stream)
		if content == "" {
			if err := os.Remove(filepath.Join(dir, "sess_0198_002.jsonl")); err != nil {
				t.Fatal(err)
			}
		} else {
			put(t, dir, "sess_0198_002.jsonl", content)
		}
		before := filesIn(t, dir)
		folder := trace.CheckFolder(dir, session)
		var err error
		for i := 0; i < len(stream) && err == nil; i++ {
			err = folder.Add(stream[i])
		}
		if err == nil {
			err = folder.Finish()
		}
		folder.Close()
		if folder.Written() != 0 || !maps.Equal(filesIn(t, dir), before) {
			t.Error("the check has written")
		}
		return err
	}
	if err := check(whole); err != nil {
		t.Errorf("what is whole: %v", err)
	}
	for content, want := range map[string]string{
		"":                   "sess_0198_002.jsonl ends before line 1",
		whole[:len(whole)-5]: "sess_0198_002.jsonl ends before line 3",
		whole + "\n":         "sess_0198_002.jsonl goes on at line 4, behind the end of the conversation",
	} {
		if err := check(content); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestOnlySomeFilesAreLookedAt(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "sess_0198_001.jsonl", "another\n")
	put(t, dir, "sess_0198_002.jsonl", "another\n")
	folder := trace.CheckFolder(dir, session)
	folder.Only("sess_0198_002.jsonl")
	var err error
	for _, m := range sample(t) {
		if err = folder.Add(m); err != nil {
			break
		}
	}
	if err == nil || err.Error() != "sess_0198_002.jsonl differs at line 1" {
		t.Errorf("error is %v", err)
	}
	folder.Close()
}

func TestAFolderGoesOnAfterAnEnd(t *testing.T) {
	dir, stream := t.TempDir(), sample(t)
	folder, err := trace.OpenFolder(dir, session)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range stream {
		if err := errors.Join(folder.Add(m), folder.Finish()); err != nil {
			t.Fatal(err)
		}
	}
	if got := filesIn(t, dir); !maps.Equal(got, filesIn(t, "testdata")) {
		t.Errorf("the files are\n%v", got)
	}
	if err := folder.Sync(); err != nil {
		t.Fatal(err)
	}
	folder.Close()
}
