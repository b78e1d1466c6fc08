package trial

import (
	"fmt"
	"mime"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// Attach returns an attachment for an address, or for a file of this machine.
func Attach(what string) (bridge.Attachment, error) {
	if scheme, rest, ok := strings.Cut(what, ":"); ok && scheme == "data" {
		mediaType, _, _ := strings.Cut(strings.ReplaceAll(rest, ";", ","), ",")
		return bridge.Attachment{Kind: kindOf(mediaType), URL: what, MIMEType: mediaType}, nil
	}
	if u, err := url.Parse(what); err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "file") {
		return named(bridge.Attachment{URL: what}, path.Base(u.Path)), nil
	}
	full, err := filepath.Abs(what)
	if err != nil {
		return bridge.Attachment{}, fmt.Errorf("attach %s: %w", what, err)
	}
	info, err := os.Stat(full)
	if err != nil {
		return bridge.Attachment{}, fmt.Errorf("attach: %w", err)
	}
	address := url.URL{Scheme: "file", Path: full}
	return named(bridge.Attachment{URL: address.String(), Size: info.Size()}, filepath.Base(full)), nil
}

// named fills in what the name of a file says about it.
func named(a bridge.Attachment, name string) bridge.Attachment {
	if name != "." && name != "/" {
		a.Filename = name
	}
	a.MIMEType, _, _ = strings.Cut(mime.TypeByExtension(path.Ext(name)), ";")
	a.Kind = kindOf(a.MIMEType)
	return a
}

// kindOf is the protocol's word for a media type.
func kindOf(mediaType string) string {
	kind, _, _ := strings.Cut(mediaType, "/")
	switch {
	case kind == "image", kind == "audio", kind == "video":
		return kind
	case mediaType == "":
		return "other"
	}
	return "file"
}
