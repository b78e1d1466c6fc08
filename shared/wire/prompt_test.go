package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestAnswersAreHeldToTheirShape(t *testing.T) {
	for name, c := range map[string]struct {
		answer wire.Answer
		want   fault.Code
	}{
		"allow":               {wire.Answer{Decision: event.Allow}, ""},
		"deny with a reason":  {wire.Answer{Decision: event.Deny, Reason: "No."}, ""},
		"allow another input": {wire.Answer{Decision: event.Allow, UpdatedInput: json.RawMessage(` {"a":1.0}`)}, ""},
		"a choice":            {wire.Answer{Decision: event.Allow, Response: json.RawMessage(`{"selected_options":["a"]}`)}, ""},
		"the way of a step":   {wire.Answer{Decision: event.TryAgain, Reason: "It was the network."}, ""},
		"nobody in time":      {wire.Answer{Decision: event.NoAnswer}, ""},
		"response is a list":  {wire.Answer{Decision: event.Allow, Response: json.RawMessage(`[1]`)}, fault.InvalidRequest},
		"response is too large": {wire.Answer{Decision: event.Allow,
			Response: json.RawMessage(`{"a":"` + strings.Repeat("x", wire.MaxResponse) + `"}`)}, fault.TooLarge},
		"no decision":        {wire.Answer{}, fault.InvalidRequest},
		"unknown decision":   {wire.Answer{Decision: "Allow"}, fault.InvalidRequest},
		"deny another input": {wire.Answer{Decision: event.Deny, UpdatedInput: json.RawMessage(`{}`)}, fault.InvalidRequest},
		"input is no object": {wire.Answer{Decision: event.Allow, UpdatedInput: json.RawMessage(`[1]`)}, fault.InvalidRequest},
		"input is no JSON":   {wire.Answer{Decision: event.Allow, UpdatedInput: json.RawMessage(`{"a"`)}, fault.InvalidRequest},
		"input nests too deep": {wire.Answer{Decision: event.Allow,
			UpdatedInput: json.RawMessage(`{"a":` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `}`)}, fault.InvalidRequest},
		"input is too large": {wire.Answer{Decision: event.Allow,
			UpdatedInput: json.RawMessage(`{"a":"` + strings.Repeat("x", wire.MaxUpdatedInput) + `"}`)}, fault.TooLarge},
		"reason is too long": {wire.Answer{Decision: event.Deny, Reason: strings.Repeat("x", wire.MaxReason+1)}, fault.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.answer.Check(); fault.CodeOf(err) != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAttachmentsAreHeldToTheirShape(t *testing.T) {
	link := func(change func(*wire.Attachment)) []wire.Attachment {
		a := wire.Attachment{Kind: "file", URL: "https://example.org/a"}
		change(&a)
		return []wire.Attachment{a}
	}
	withURL := func(u string) []wire.Attachment { return link(func(a *wire.Attachment) { a.URL = u }) }
	many := func(n int, u string) (all []wire.Attachment) {
		for range n {
			all = append(all, withURL(u)...)
		}
		return all
	}
	for name, c := range map[string]struct {
		attachments []wire.Attachment
		want        fault.Code
	}{
		"none":                    {nil, ""},
		"as many as allowed":      {many(wire.MaxAttachments, "http://h/x"), ""},
		"everything said":         {link(func(a *wire.Attachment) { a.Filename, a.MIMEType, a.Size = "a b.png", "image/png", 3 }), ""},
		"data":                    {withURL("data:text/plain;base64,aGk="), ""},
		"one too many":            {many(wire.MaxAttachments+1, "http://h/x"), fault.TooLarge},
		"unknown kind":            {link(func(a *wire.Attachment) { a.Kind = "Image" }), fault.InvalidRequest},
		"no kind":                 {link(func(a *wire.Attachment) { a.Kind = "" }), fault.InvalidRequest},
		"no url":                  {withURL(""), fault.InvalidRequest},
		"url of a file":           {withURL("file:///etc/passwd"), fault.InvalidRequest},
		"url without a host":      {withURL("http:///x"), fault.InvalidRequest},
		"url of a script":         {withURL("javascript:alert(1)"), fault.InvalidRequest},
		"url with a control sign": {withURL("http://h/\x07"), fault.InvalidRequest},
		"data without data":       {withURL("data:text/plain"), fault.InvalidRequest},
		"long url":                {withURL("http://h/" + strings.Repeat("x", wire.MaxAttachmentURL)), fault.TooLarge},
		"long data":               {withURL("data:," + strings.Repeat("x", wire.MaxAttachmentData)), fault.TooLarge},
		"much data together":      {many(5, "data:,"+strings.Repeat("x", wire.MaxAttachmentData-10)), fault.TooLarge},
		"filename is a path":      {link(func(a *wire.Attachment) { a.Filename = "../x" }), fault.InvalidRequest},
		"filename is dots":        {link(func(a *wire.Attachment) { a.Filename = ".." }), fault.InvalidRequest},
		"filename has lines":      {link(func(a *wire.Attachment) { a.Filename = "a\nb" }), fault.InvalidRequest},
		"long filename":           {link(func(a *wire.Attachment) { a.Filename = strings.Repeat("x", 256) }), fault.InvalidRequest},
		"mime type is none":       {link(func(a *wire.Attachment) { a.MIMEType = "png" }), fault.InvalidRequest},
		"negative size":           {link(func(a *wire.Attachment) { a.Size = -1 }), fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			if err := wire.CheckAttachments(c.attachments); fault.CodeOf(err) != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
