package wire

import (
	"encoding/json"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// AttachmentKind says roughly what an attachment is.
type AttachmentKind string

// AttachmentKinds returns the kinds of S4.
func AttachmentKinds() []AttachmentKind {
	return []AttachmentKind{"image", "file", "audio", "video", "other"}
}

// Attachment is something that belongs to a message (S4 "attachments"). URL is http, https or data: a file URL would name a file of another
// machine.
type Attachment struct {
	Kind     AttachmentKind `json:"kind"`
	URL      string         `json:"url"`
	Filename string         `json:"filename,omitempty"` // a name, no path
	MIMEType string         `json:"mime_type,omitempty"`
	Size     int64          `json:"size,omitempty"` // bytes; 0 is unknown
}

// Bounds of attachments, in bytes but for the first.
const (
	MaxAttachments     = 32        // of one message
	MaxAttachmentURL   = 4 << 10   // of http and https
	MaxAttachmentData  = 64 << 10  // of a data URL, encoded
	MaxAttachmentBytes = 256 << 10 // of all of them together, as JSON
	maxAttachmentName  = 255
)

// CheckAttachments says what is wrong with the attachments of a message, as a fault for the one who sent it.
func CheckAttachments(all []Attachment) error {
	if len(all) > MaxAttachments {
		return fault.New(fault.TooLarge, "A message has at most %d attachments.", MaxAttachments)
	}
	for i, a := range all {
		if err := a.check(); err != nil {
			return fault.Wrap(err, fault.CodeOf(err), "Attachment %d: %s", i+1, fault.Public(err).Detail)
		}
	}
	if encoded, err := json.Marshal(all); err != nil || len(encoded) > MaxAttachmentBytes {
		return fault.Wrap(err, fault.TooLarge, "The attachments of a message have at most %d bytes together.", MaxAttachmentBytes)
	}
	return nil
}

func (a Attachment) check() error {
	switch {
	case !slices.Contains(AttachmentKinds(), a.Kind):
		return fault.New(fault.InvalidRequest, "its kind must be image, file, audio, video or other.")
	case len(a.Filename) > maxAttachmentName || strings.ContainsFunc(a.Filename, notInName) || a.Filename == "." || a.Filename == "..":
		return fault.New(fault.InvalidRequest, "its filename must be a name of at most %d bytes, no path.", maxAttachmentName)
	case a.Size < 0:
		return fault.New(fault.InvalidRequest, "its size is negative.")
	}
	if a.MIMEType != "" && !isMediaType(a.MIMEType) {
		return fault.New(fault.InvalidRequest, "its mime_type is none.")
	}
	return checkURL(a.URL)
}

func isMediaType(s string) bool {
	kind, _, err := mime.ParseMediaType(s)
	return err == nil && strings.Contains(kind, "/") && len(s) <= maxAttachmentName
}

func notInName(r rune) bool {
	return r == '/' || r == '\\' || unicode.IsControl(r) || r == unicode.ReplacementChar
}

func checkURL(s string) error {
	if len(s) > MaxAttachmentData {
		return fault.New(fault.TooLarge, "its url has more than %d bytes.", MaxAttachmentData)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return fault.Wrap(err, fault.InvalidRequest, "its url cannot be read.")
	case u.Scheme == "data" && strings.Contains(s, ","):
		return nil
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fault.New(fault.InvalidRequest, "its url must be http, https or data.")
	case len(s) > MaxAttachmentURL:
		return fault.New(fault.TooLarge, "its url has more than %d bytes.", MaxAttachmentURL)
	}
	return nil
}
