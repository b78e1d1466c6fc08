package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type artifactsCmd struct {
	Ref string `arg:"" name:"run" help:"The run: the beginning of its id is enough."`
}

// Run lists what a run produced.
func (c artifactsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Run(s.ctx, c.Ref)
		if err != nil {
			return err
		}
		all, err := client.Decode[client.ArtifactList](h.API().ListAgentTaskArtifacts(s.ctx, found.ID))
		if err != nil {
			return err
		}
		return table(s, all.Items, "this run has produced no files", []string{"file", "size", "type", "id"}, func(a client.Artifact) []string {
			return []string{a.Filename, screen.Size(a.Size), a.ContentType, a.ID}
		})
	})
}

type artifactCmd struct {
	Get artifactGetCmd `cmd:"" help:"Fetch a file, and check that it is whole."`
}

type artifactGetCmd struct {
	Artifact string `arg:"" help:"The artifact: its id, or the beginning of it or the file's name among the newest runs."`
	place
}

// place is where a file that was fetched goes.
type place struct {
	Output string `short:"o" placeholder:"FILE" help:"Where to write it; - is standard output (default: its own name, here)."`
	Force  bool   `short:"f" help:"Replace a file that is there."`
}

// Help is shown below the usage.
func (artifactGetCmd) Help() string {
	return `Examples:
  yard artifact get report.md -o - | less
  yard artifact get art_0190b4c2 -o /tmp/report.md`
}

// Run fetches an artifact.
func (c artifactGetCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Artifact(s.ctx, c.Artifact)
		if err != nil {
			return err
		}
		body, err := client.Content(h.API().GetArtifactContent(s.ctx, found.ID))
		if err != nil {
			return err
		}
		defer body.Close() //nolint:errcheck // read to the end, or not wanted any more
		if c.Output == "-" {
			return whole(s.Out, body, found.Filename, found.Sha256)
		}
		name, err := c.save(body, found.Filename, found.Sha256)
		if err != nil {
			return err
		}
		return s.print(struct {
			client.Artifact
			File string `json:"file"`
		}{found, name}, func() error { return s.say("%s, %s", screen.Clean(name), screen.Size(found.Size)) })
	})
}

// save writes the file beside its place and moves it there when it is whole.
func (c place) save(body io.Reader, filename, sum string) (string, error) {
	name := c.Output
	if name == "" {
		name = ownName(filename)
	}
	if _, err := os.Lstat(name); err == nil && !c.Force {
		return "", fmt.Errorf("%s is there already; --force replaces it, -o chooses another place", name)
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".yard-*")
	if err != nil {
		return "", fmt.Errorf("save %s: %w", name, err)
	}
	err = errors.Join(whole(temp, body, filename, sum), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("save %s: %w", name, err), os.Remove(temp.Name()))
	}
	return name, nil
}

// ownName is the last element of a name that an agent chose, never hidden and never a way out of this folder.
func ownName(filename string) string {
	name := screen.Line(filepath.Base(strings.ReplaceAll(filename, `\`, "/")), 200)
	name = strings.TrimLeft(name, ".")
	if name == "" || name == "/" {
		return "artifact"
	}
	return name
}

// whole copies the bytes of a file and fails if they are not those that were recorded.
func whole(w io.Writer, body io.Reader, filename, want string) error {
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, sum), body); err != nil {
		return fmt.Errorf("fetch %s: %w", filename, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("%s came damaged (its checksum is %s, not %s); fetch it again", filename, got, want)
	}
	return nil
}
