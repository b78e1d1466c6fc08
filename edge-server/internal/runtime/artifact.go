package runtime

import (
	"bytes"
	"io"
	"mime"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/edge-server/internal/workspace"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

const (
	anyContent  = "application/octet-stream"
	maxFilename = 255 // bytes
	maxContent  = 255 // bytes of a content type
)

// keeper stores the files of one run: an Artifacts.
type keeper struct {
	dir     string // the workspace
	blobs   Blobs
	secrets *redact.Redactor
}

func (k keeper) KeepFile(name, as, contentType string) (run.Artifact, error) {
	file, err := workspace.OpenFile(k.dir, name)
	if err != nil {
		return run.Artifact{}, err
	}
	defer file.Close()
	if as == "" {
		as = filepath.Base(name)
	}
	return k.keep(file, as, contentType)
}

func (k keeper) KeepContent(content []byte, as, contentType string) (run.Artifact, error) {
	return k.keep(bytes.NewReader(content), as, contentType)
}

func (k keeper) keep(content io.Reader, as, contentType string) (run.Artifact, error) {
	ref, err := k.blobs.PutBlob(k.secrets.Reader(content))
	if fault.CodeOf(err) == fault.TooLarge {
		return run.Artifact{}, err
	}
	if err != nil {
		return run.Artifact{}, fault.Wrap(err, fault.Internal, "The edge could not store the file %.200q.", as)
	}
	name := filename(as)
	return run.Artifact{ArtifactCreatedPayload: event.ArtifactCreatedPayload{
		Type: "file", ArtifactID: id.NewArtifact(), Filename: name, ContentType: contentTypeOf(contentType, name),
		Size: ref.Size, Checksum: ref.SHA256,
	}}, nil
}

// filename makes a name that is no path and shows as what it is.
func filename(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, path.Base(strings.ReplaceAll(s, `\`, "/")))
	for len(s) > maxFilename {
		ext := path.Ext(s)
		if len(ext) > maxFilename/2 {
			ext = ""
		}
		s = strings.ToValidUTF8(s[:maxFilename-len(ext)], "") + ext
	}
	if s == "" || s == "." || s == ".." || s == "/" {
		return "file"
	}
	return s
}

// contentTypeOf takes the agent's word if it is one, else what the name's ending says.
func contentTypeOf(declared, name string) string {
	for _, candidate := range []string{declared, mime.TypeByExtension(path.Ext(name))} {
		if kind, _, err := mime.ParseMediaType(candidate); err == nil && strings.Contains(kind, "/") && len(candidate) <= maxContent {
			return candidate
		}
	}
	return anyContent
}
