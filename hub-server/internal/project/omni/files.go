package omni

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// File is what a person has sent with a message.
type File struct {
	Image bool   `json:"image,omitempty"`
	Name  string `json:"name,omitempty"`
	Type  string `json:"type,omitempty"` // of media, "" where nobody has said it
	URL   string `json:"url"`            // http, https, or data with all of it
}

func (m Message) empty() bool { return m.Text == "" && len(m.Files) == 0 }

func (m Message) size() int {
	size := len(m.Text)
	for _, f := range m.Files {
		size += len(f.Name) + len(f.Type) + len(f.URL)
	}
	return size
}

// people tells what a person says: the text, with the names of files of which no more is known, and then the files.
func (s *State) people(in *session, at time.Time, m Message) {
	var lines []string
	if m.Text != "" {
		lines = append(lines, m.Text)
	}
	var files []omni.Payload
	for _, f := range m.Files {
		if p := f.payload(); p != nil && s.fits(in, p) {
			files = append(files, p)
		} else {
			lines = append(lines, cmp.Or(f.Name, f.URL))
		}
	}
	if len(lines) > 0 {
		s.emit(in, at, omni.UserText(strings.Join(lines, "\n")))
	}
	for _, p := range files {
		s.emit(in, at, p)
	}
}

// payload is the file as S1 has it, nil for one that is only an address.
func (f File) payload() omni.Payload {
	media, data, here := f.data()
	switch {
	case here && f.Image:
		return omni.ImageURL("data:" + media + ";base64," + data)
	case here:
		return omni.InlineData(omni.User, media, data)
	case f.Image:
		return omni.ImageURL(f.URL)
	}
	return nil
}

// data are the type and, in base64, the bytes of a data URL (RFC 2397); false if it is none.
func (f File) data() (media, data string, here bool) {
	head, data, here := strings.Cut(f.URL, ",")
	head, is := strings.CutPrefix(head, "data:")
	if !here || !is {
		return "", "", false
	}
	head, based := strings.CutSuffix(head, ";base64")
	media, _, _ = strings.Cut(head, ";")
	media = cmp.Or(media, f.Type, "text/plain")
	raw, err := url.PathUnescape(data)
	if err != nil {
		return "", "", false
	}
	if !based {
		return media, base64.StdEncoding.EncodeToString([]byte(raw)), true
	}
	_, err = base64.StdEncoding.DecodeString(raw)
	return media, raw, err == nil
}
