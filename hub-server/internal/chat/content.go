package chat

import (
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Kinds of content (S3). Text alone may carry fields of the sender's own; the shape of the others is closed.
const (
	Text       ContentType = "text"
	Code       ContentType = "code"
	Diff       ContentType = "diff"
	Image      ContentType = "image"
	File       ContentType = "file"
	LinkCard   ContentType = "link_card"
	DeployCard ContentType = "deploy_card"
)

// field is one field of a content: whether it must be there, and what is wrong with a value, "" if nothing is.
type field struct {
	required bool
	wrong    func(json.RawMessage) string
}

// shapes are the contents that are closed. The contract has the same, as x-content-schemas; a test compares the two.
var shapes = map[ContentType]map[string]field{
	Code: {
		"code":     {true, words(1, MaxContent)},
		"language": {false, line(64)},
		"filename": {false, line(255)},
	},
	Diff: {
		"diff":     {true, words(1, MaxContent)},
		"filename": {false, line(255)},
		"title":    {false, line(200)},
	},
	Image: {
		"url":     {false, link("http", "https", "data")},
		"alt":     {false, words(0, 2000)},
		"caption": {false, words(0, 4000)},
		"width":   {false, number(1, 65535)},
		"height":  {false, number(1, 65535)},
	},
	File: {
		"url":       {false, link("http", "https", "data")},
		"filename":  {false, line(255)},
		"mime_type": {false, line(255)},
		"size":      {false, number(0, math.MaxInt64)},
		"caption":   {false, words(0, 4000)},
	},
	LinkCard: {
		"url":         {true, link("http", "https")},
		"title":       {true, line(200)},
		"description": {false, words(0, 2000)},
		"site_name":   {false, line(100)},
		"image_url":   {false, link("http", "https")},
	},
	DeployCard: {
		"title":       {true, line(200)},
		"status":      {true, oneOf("queued", "running", "succeeded", "failed", "cancelled")},
		"environment": {false, line(100)},
		"url":         {false, link("http", "https")},
		"version":     {false, line(100)},
		"description": {false, words(0, 2000)},
	},
}

// checkShape says what is wrong with a content, with the path of the field. An image or a file is at its url or among the attachments.
func checkShape(kind ContentType, fields map[string]json.RawMessage, attached int) error {
	shape, known := shapes[kind]
	if !known {
		return fault.New(fault.InvalidRequest, "content_type must be one of text, code, diff, image, file, link_card, deploy_card.")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f, known := shape[name]
		if !known {
			return fault.New(fault.InvalidRequest, "content.%s is no field of %s.", shorten(name), kind)
		}
		if wrong := f.wrong(fields[name]); wrong != "" {
			return fault.New(fault.InvalidRequest, "content.%s %s.", name, wrong)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shape)) {
		if _, there := fields[name]; shape[name].required && !there {
			return fault.New(fault.InvalidRequest, "content.%s is missing; %s needs it.", name, kind)
		}
	}
	if _, there := fields["url"]; (kind == Image || kind == File) && !there && attached == 0 {
		return fault.New(fault.InvalidRequest, "content.url is missing; without it, attach the %s.", kind)
	}
	return nil
}

// shorten keeps a name that somebody made up from filling the answer.
func shorten(name string) string {
	const most = 40
	if utf8.RuneCountInString(name) > most {
		return string([]rune(name)[:most]) + "…"
	}
	return name
}

func stringOf(raw json.RawMessage) (string, bool) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// words takes strings of so many bytes.
func words(least, most int) func(json.RawMessage) string {
	return func(raw json.RawMessage) string {
		s, ok := stringOf(raw)
		switch {
		case !ok:
			return "must be a string"
		case len(s) < least || least > 0 && strings.TrimSpace(s) == "":
			return "is empty"
		case len(s) > most:
			return "is too long: at most " + strconv.Itoa(most) + " bytes"
		}
		return ""
	}
}

// line takes strings of one line, not empty, of at most so many bytes.
func line(most int) func(json.RawMessage) string {
	check := words(1, most)
	return func(raw json.RawMessage) string {
		if s, _ := stringOf(raw); strings.ContainsFunc(s, unicode.IsControl) {
			return "must be one line"
		}
		return check(raw)
	}
}

// number takes whole numbers within bounds, both included.
func number(least, most int64) func(json.RawMessage) string {
	return func(raw json.RawMessage) string {
		var n *int64
		if json.Unmarshal(raw, &n) != nil || n == nil || *n < least || *n > most {
			return "must be a whole number from " + strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10)
		}
		return ""
	}
}

func oneOf(values ...string) func(json.RawMessage) string {
	return func(raw json.RawMessage) string {
		if s, ok := stringOf(raw); !ok || !slices.Contains(values, s) {
			return "must be one of " + strings.Join(values, ", ")
		}
		return ""
	}
}

// link takes whole addresses of the schemes.
func link(schemes ...string) func(json.RawMessage) string {
	const most, mostData = 2048, 32 << 10
	return func(raw json.RawMessage) string {
		s, _ := stringOf(raw)
		u, err := url.Parse(s)
		switch {
		case err != nil || !slices.Contains(schemes, u.Scheme):
			return "must be an address that begins with " + strings.Join(schemes, ": or ") + ":"
		case u.Scheme == "data" && !strings.Contains(s, ","), u.Scheme != "data" && u.Host == "":
			return "must be a whole address"
		case len(s) > mostData, u.Scheme != "data" && len(s) > most:
			return "is too long"
		}
		return ""
	}
}
