package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// UploadAttachment implements uploadAttachment. Nothing of the bytes is held in memory as a whole, and nobody looks into them.
func (h handlers) UploadAttachment(ctx context.Context, r UploadAttachmentRequestObject) (UploadAttachmentResponseObject, error) {
	file, err := h.Files.Keep(ctx, caller(ctx).User, r.Params.Filename, valueOf(r.Params.MimeType), r.Body)
	if err != nil {
		return nil, err
	}
	return UploadAttachment201JSONResponse(renderFile(file)), nil
}

// GetAttachment implements getAttachment.
func (h handlers) GetAttachment(ctx context.Context, r GetAttachmentRequestObject) (GetAttachmentResponseObject, error) {
	file, err := h.Files.Get(ctx, caller(ctx).User, id.Attachment(r.AttachmentID))
	if err != nil {
		return nil, hide(err)
	}
	return GetAttachment200JSONResponse(renderFile(file)), nil
}

func renderFile(a chat.Attachment) UploadedFile {
	return UploadedFile{
		ID: AttachmentID(a.ID), URL: a.URL(), Filename: a.Filename, MimeType: a.MIMEType, Size: a.Size, Sha256: SHA256(a.Hash), CreatedAt: a.CreatedAt,
	}
}

// fileContent sends the bytes of files. It is written by hand because ranges are asked for in headers.
type fileContent struct {
	Deps
	problems problems
}

// ServeHTTP implements getAttachmentContent.
func (f fileContent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, err := f.Files.Get(r.Context(), caller(r.Context()).User, id.Attachment(r.PathValue("attachment_id")))
	if err != nil {
		f.problems.answer(w, r, hide(err))
		return
	}
	harmless(w.Header(), file.Filename)
	w.Header().Set("ETag", `"`+string(file.Hash)+`"`)
	http.ServeContent(w, r, "", time.Time{}, f.Files.Open(r.Context(), file))
}
