package httpapi

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// ListAgentTaskArtifacts implements listAgentTaskArtifacts.
func (h handlers) ListAgentTaskArtifacts(
	ctx context.Context, r ListAgentTaskArtifactsRequestObject,
) (ListAgentTaskArtifactsResponseObject, error) {
	artifacts, err := h.Runs.Artifacts(ctx, id.Run(r.TaskID))
	if err != nil {
		return nil, hide(err)
	}
	return ListAgentTaskArtifacts200JSONResponse{Items: mapAll(artifacts, renderArtifact)}, nil
}

// GetArtifact implements getArtifact.
func (h handlers) GetArtifact(ctx context.Context, r GetArtifactRequestObject) (GetArtifactResponseObject, error) {
	artifact, err := h.Runs.Artifact(ctx, id.Artifact(r.ArtifactID))
	if err != nil {
		return nil, hide(err)
	}
	return GetArtifact200JSONResponse(renderArtifact(artifact)), nil
}

// GetArtifactContent implements getArtifactContent.
func (h handlers) GetArtifactContent(ctx context.Context, r GetArtifactContentRequestObject) (GetArtifactContentResponseObject, error) {
	artifact, err := h.Runs.Artifact(ctx, id.Artifact(r.ArtifactID))
	if err != nil {
		return nil, hide(err)
	}
	size, body, err := h.Blobs.Open(ctx, artifact.Blob)
	if err != nil {
		return nil, fmt.Errorf("open blob of %s: %w", artifact.ID, hide(err))
	}
	return download{name: artifact.Filename, size: size, body: body}, nil
}

// download sends an artifact so that it cannot act on the hub's origin: saved, not shown; of no type that a browser runs; in a sandbox
// all the same (SEC21).
type download struct {
	name string
	size int64
	body io.Reader
}

// VisitGetArtifactContentResponse implements the generated answer.
func (d download) VisitGetArtifactContentResponse(w http.ResponseWriter) error {
	harmless(w.Header(), d.name)
	w.Header().Set("Content-Length", fmt.Sprint(d.size))
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(w, d.body); err != nil {
		panic(http.ErrAbortHandler) // the status is out: only a cut connection tells the client that bytes are missing
	}
	return nil
}

// harmless says what keeps a file from acting on the hub's origin (SEC21).
func harmless(header http.Header, name string) {
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", disposition(name))
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// disposition names the file by its last element alone: a client must not be told to write anywhere else.
func disposition(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
	if value := mime.FormatMediaType("attachment", map[string]string{"filename": name}); value != "" && name != "." && name != "/" && name != ".." {
		return value
	}
	return "attachment"
}

func renderArtifact(a runlog.Artifact) Artifact {
	return Artifact{
		ID: ArtifactID(a.ID), RunID: RunID(a.Run), Filename: a.Filename, ContentType: a.ContentType, Size: a.Size,
		Sha256: SHA256(a.Blob), CreatedAt: a.CreatedAt,
	}
}
