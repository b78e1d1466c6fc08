package omni

import (
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Problem is something that is not as S1 has it, and where: "payload.tools[2].name".
type Problem struct {
	Path string
	What string
}

// Problems are what is wrong with a message, never none.
type Problems []Problem

// maxProblems is how many are collected: a line can be wrong in millions of places.
const maxProblems = 20

// Error names them all.
func (p Problems) Error() string {
	parts := make([]string, len(p))
	for i, problem := range p {
		parts[i] = problem.Path + ": " + problem.What
	}
	return strings.Join(parts, "; ")
}

func (p *Problems) add(at *trail, format string, args ...any) {
	if len(*p) < maxProblems {
		*p = append(*p, Problem{Path: at.String(), What: fmt.Sprintf(format, args...)})
	}
}

// Validate says in which fields the message is not as S1 has it: Problems, or nil. Keys that are not known are right, and so are payloads of a type
// that is not (R12).
func (m Message) Validate() error {
	if m.line == nil {
		return ErrNotMessage
	}
	var problems Problems
	m.checkEnvelope(&problems)
	if shape := byKey[shapeKey{m.typ, m.kind}]; shape != nil {
		checkFields(&problems, atPayload, m.Payload(), shapeFields[shape])
		m.checkRetry(&problems)
	}
	if problems == nil {
		return nil
	}
	return problems
}

func (m Message) checkEnvelope(problems *Problems) {
	if when, err := time.Parse(time.RFC3339Nano, m.timestamp); err != nil {
		problems.add(atTimestamp, "is no time of ISO 8601")
	} else if _, offset := when.Zone(); offset != 0 {
		problems.add(atTimestamp, "is not in UTC")
	}
	m.checkOrigin(problems)
	switch of, known := typeOf[m.kind]; {
	case m.typ != ModelMsg && m.typ != EventMsg:
	case m.kind == "":
		problems.add(&trail{up: atPayload, name: "type"}, "is missing")
	case known && of != m.typ:
		problems.add(&trail{up: atPayload, name: "type"}, "%s is no payload of %s", m.kind, m.typ)
	}
}

func (m Message) checkOrigin(problems *Problems) {
	if m.originSpan.to == 0 {
		return
	}
	value := m.originSpan.in(m.line)
	if !isKind(value, '[') {
		problems.add(atOrigin, "is no list")
		return
	}
	none := true
	for i, element := range elements(value) {
		none = false
		checkText(problems, &trail{up: atOrigin, nth: i}, element, &field{filled: true})
	}
	if none {
		problems.add(atOrigin, "is empty: the main session has none")
	}
}

// checkFields holds an object to the fields that it should have.
func checkFields(problems *Problems, at *trail, object []byte, fields []field) {
	var few [12][]byte
	values := few[:]
	if len(fields) > len(few) {
		values = make([][]byte, len(fields))
	}
	for key, where := range members(object) {
		i := place(fields, key)
		if i < 0 {
			continue
		}
		if values[i] != nil {
			problems.add(&trail{up: at, name: fields[i].name}, "is there twice")
		}
		values[i] = where.in(object)
	}
	for i := range fields {
		if f := &fields[i]; values[i] != nil || !f.optional && !f.later {
			checkField(problems, &trail{up: at, name: f.name}, values[i], f)
		}
	}
}

func checkField(problems *Problems, at *trail, value []byte, f *field) {
	switch {
	case value == nil:
		problems.add(at, "is missing")
		return
	case f.null && string(value) == "null":
		return
	}
	switch f.kind {
	case text:
		checkText(problems, at, value, f)
	case count:
		checkCount(problems, at, value)
	case window:
		if isKind(value, '"') {
			checkText(problems, at, value, &field{filled: true})
		} else {
			checkCount(problems, at, value)
		}
	case object:
		if !isKind(value, '{') {
			problems.add(at, "is no object")
		} else if inner := layouts[f.inner]; inner != nil {
			checkFields(problems, at, value, inner)
		}
	case list:
		checkList(problems, at, value, f)
	}
}

func checkText(problems *Problems, at *trail, value []byte, f *field) {
	if !isKind(value, '"') {
		problems.add(at, "is no string")
		return
	}
	if !f.filled && f.words == nil && f.holds == "" {
		return
	}
	text := said(value)
	switch {
	case f.filled && len(text) == 0:
		problems.add(at, "is empty")
	case f.words != nil && !isOneOf(f.words, text):
		problems.add(at, "is %.40q, which is none of %s", text, strings.Join(f.words, ", "))
	case f.holds == "images" && !isDataURL(string(text)):
		problems.add(at, "is no data:MIME;base64,… URL")
	case f.holds == "image_url" && !isImageURL(string(text)):
		problems.add(at, "is neither a URL of the web nor a data:MIME;base64,… URL")
	}
}

func isOneOf(words []string, text []byte) bool {
	return slices.ContainsFunc(words, func(word string) bool { return word == string(text) })
}

func checkCount(problems *Problems, at *trail, value []byte) {
	var n Count
	switch {
	case n.UnmarshalJSON(value) != nil:
		problems.add(at, "is no whole number up to %d", MaxCount)
	case n < 0:
		problems.add(at, "is negative")
	}
}

func checkList(problems *Problems, at *trail, value []byte, f *field) {
	if !isKind(value, '[') {
		problems.add(at, "is no list")
		return
	}
	element := field{kind: kindOf(f.inner), holds: f.holds, inner: f.inner}
	for i, v := range elements(value) {
		if len(*problems) >= maxProblems {
			return
		}
		checkField(problems, &trail{up: at, nth: i}, v, &element)
	}
}

func isImageURL(url string) bool {
	return strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") || isDataURL(url)
}

func isDataURL(url string) bool {
	head, data, found := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !found || head == "" || !strings.HasPrefix(url, "data:") || data == "" || strings.ContainsAny(data, "\r\n") {
		return false
	}
	_, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	return err == nil
}

// checkRetry holds what is told of attempts to S1 (request_end).
func (m Message) checkRetry(problems *Problems) {
	if m.kind != TypeRequestEnd && m.kind != TypeCompactionEnd {
		return
	}
	body, err := m.Body()
	if err != nil {
		return // its fields have been named
	}
	switch p := body.(type) {
	case RequestEndPayload:
		m.checkDetail(problems, p.RetryDetail, p.Status)
	case CompactionEndPayload:
		m.checkDetail(problems, p.RetryDetail, p.Status)
	}
}

func (m Message) checkDetail(problems *Problems, d RetryDetail, status StopReason) {
	if status == Completed && d.ErrorMessage != "" {
		problems.add(&trail{up: atPayload, name: "error_message"}, "says what went wrong where nothing did")
	}
	if status == Completed && d.Attempt == 1 {
		problems.add(&trail{up: atPayload, name: "attempt"}, "is left out where the first attempt succeeds")
	}
	if d.Attempt == 0 && valueOf(m.Payload(), "attempt") != nil {
		problems.add(&trail{up: atPayload, name: "attempt"}, "counts from 1")
	}
	if d.RetryInMS != nil && !status.Retried() {
		problems.add(&trail{up: atPayload, name: "retry_in_ms"}, "is there although %s is not tried again", status)
	}
}
