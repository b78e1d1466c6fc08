package talk

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// maxFile is how many bytes of a file fit into a data URL, base64 and all, that a hub takes.
const maxFile = 48_000

// Attach makes attachments of addresses and of files of this machine: an agent may run on another one, so a small file's bytes go along. One that is
// larger has its path as its address until Upload has given it to the hub.
func Attach(refs []string) ([]client.Attachment, error) {
	var all []client.Attachment
	for _, ref := range refs {
		attach := attachFile
		if u, err := url.Parse(ref); err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "data") {
			attach = attachURL
		}
		one, err := attach(ref)
		if err != nil {
			return nil, fmt.Errorf("attach %.80s: %w", ref, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func attachURL(ref string) (client.Attachment, error) {
	a := client.Attachment{Kind: client.AttachmentKindFile, URL: ref}
	if u, err := url.Parse(ref); err == nil && u.Scheme != "data" {
		if name := filepath.Base(u.Path); name != "." && name != "/" {
			a.Filename = name
			a.MimeType = mime.TypeByExtension(filepath.Ext(name))
		}
	}
	if media, ok := strings.CutPrefix(ref, "data:"); ok {
		media, _, _ = strings.Cut(media, ",")
		a.MimeType = strings.TrimSuffix(media, ";base64")
	}
	a.Kind = kindOf(a.MimeType)
	return a, nil
}

func attachFile(path string) (client.Attachment, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return client.Attachment{}, err
	case !info.Mode().IsRegular():
		return client.Attachment{}, errors.New("it is no file")
	case info.Size() > maxFile:
		media, _, _ := strings.Cut(mime.TypeByExtension(filepath.Ext(path)), ";")
		return client.Attachment{Kind: kindOf(media), URL: localFile + path, Filename: filepath.Base(path), MimeType: media, Size: info.Size()}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return client.Attachment{}, err
	}
	media := mime.TypeByExtension(filepath.Ext(path))
	if media == "" {
		media = http.DetectContentType(data)
	}
	media, _, _ = strings.Cut(media, ";")
	return client.Attachment{
		Kind: kindOf(media), URL: "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data), Filename: filepath.Base(path),
		MimeType: media, Size: int64(len(data)),
	}, nil
}

const localFile = "file:"

// Upload gives the hub the files that are too large to go along. People can fetch them; agents cannot.
func Upload(ctx context.Context, hub *client.Client, attached []client.Attachment) error {
	for i, a := range attached {
		path, ok := strings.CutPrefix(a.URL, localFile)
		if !ok {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("attach %s: %w", path, err)
		}
		kept, err := hub.Upload(ctx, a.Filename, a.MimeType, file)
		file.Close() //nolint:errcheck // it was only read
		if err != nil {
			return fmt.Errorf("attach %s: %w", path, err)
		}
		attached[i].URL = kept.URL
	}
	return nil
}

func kindOf(media string) client.AttachmentKind {
	kind, _, _ := strings.Cut(media, "/")
	switch k := client.AttachmentKind(kind); k {
	case client.AttachmentKindImage, client.AttachmentKindAudio, client.AttachmentKindVideo:
		return k
	}
	return client.AttachmentKindFile
}
