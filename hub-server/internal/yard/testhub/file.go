package testhub

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// serveUpload keeps a file among the contents.
func (h *Hub) serveUpload(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	file := client.AttachmentID(id.NewAttachment())
	h.Content[file] = string(data)
	h.keys[file] = r.URL.Query().Get("filename")
	answer(w, http.StatusCreated, h.file(file))
}

func (h *Hub) serveFile(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := h.Content[r.PathValue("id")]; !there {
		problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "No such file.")
		return
	}
	answer(w, http.StatusOK, h.file(r.PathValue("id")))
}

func (h *Hub) file(file client.AttachmentID) client.UploadedFile {
	sum := sha256.Sum256([]byte(h.Content[file]))
	name, _ := h.keys[file].(string)
	return client.UploadedFile{
		ID: file, URL: "attachment:" + file, Filename: name, MimeType: "application/octet-stream", Size: int64(len(h.Content[file])),
		Sha256: hex.EncodeToString(sum[:]),
	}
}

func (h *Hub) routeFiles(closed *http.ServeMux) {
	closed.HandleFunc("POST /client/attachments", h.serveUpload)
	closed.HandleFunc("GET /client/attachments/{id}", h.serveFile)
	closed.HandleFunc("GET /client/attachments/{id}/content", h.serveContent)
}
