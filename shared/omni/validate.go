package omni

import (
	"encoding/base64"
	"fmt"
	"io"
	"reflect"
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

func (p *Problems) add(path, format string, args ...any) {
	if len(*p) < maxProblems {
		*p = append(*p, Problem{Path: path, What: fmt.Sprintf(format, args...)})
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
		checkFields(&problems, "payload", m.Payload(), reflect.TypeOf(shape.zero))
		m.checkRole(&problems, shape.Role)
		m.checkRetry(&problems)
	}
	if problems == nil {
		return nil
	}
	return problems
}

func (m Message) checkEnvelope(problems *Problems) {
	if when, err := time.Parse(time.RFC3339Nano, m.timestamp); err != nil {
		problems.add("timestamp", "is no time of ISO 8601")
	} else if _, offset := when.Zone(); offset != 0 {
		problems.add("timestamp", "is not in UTC")
	}
	m.checkOrigin(problems)
	known := func(s Shape) bool { return s.Type == m.kind && s.Message != m.typ }
	switch {
	case m.typ != ModelMsg && m.typ != EventMsg:
	case m.kind == "":
		problems.add("payload.type", "is missing")
	case slices.ContainsFunc(shapes, known):
		problems.add("payload.type", "%s is no payload of %s", m.kind, m.typ)
	}
}

func (m Message) checkOrigin(problems *Problems) {
	if m.originSpan.to == 0 {
		return
	}
	value := m.originSpan.in(m.line)
	if !isKind(value, '[') {
		problems.add("origin", "is no list")
		return
	}
	none := true
	for i, element := range elements(value) {
		none = false
		checkText(problems, nth("origin", i), element, field{filled: true})
	}
	if none {
		problems.add("origin", "is empty: the main session has none")
	}
}

func (m Message) checkRole(problems *Problems, role Role) {
	if role == "" {
		return
	}
	checkField(problems, "payload.role", valueOf(m.Payload(), "role"), field{kind: text, words: []string{string(role)}})
}

// checkFields holds an object to a struct.
func checkFields(problems *Problems, path string, object []byte, t reflect.Type) {
	fields := layouts[t]
	values := make([][]byte, len(fields))
	for key, at := range members(object) {
		i := place(fields, key)
		if i < 0 {
			continue
		}
		if values[i] != nil {
			problems.add(join(path, key), "is there twice")
		}
		values[i] = at.in(object)
	}
	for i, f := range fields {
		if values[i] != nil || !f.optional && !f.later {
			checkField(problems, join(path, f.name), values[i], f)
		}
	}
}

func checkField(problems *Problems, path string, value []byte, f field) {
	switch {
	case value == nil:
		problems.add(path, "is missing")
		return
	case f.null && string(value) == "null":
		return
	}
	switch f.kind {
	case text:
		checkText(problems, path, value, f)
	case count:
		checkCount(problems, path, value)
	case window:
		if isKind(value, '"') {
			checkText(problems, path, value, field{filled: true})
		} else {
			checkCount(problems, path, value)
		}
	case object:
		if !isKind(value, '{') {
			problems.add(path, "is no object")
		} else if layouts[f.inner] != nil {
			checkFields(problems, path, value, f.inner)
		}
	case list:
		checkList(problems, path, value, f)
	}
}

func checkText(problems *Problems, path string, value []byte, f field) {
	if !isKind(value, '"') {
		problems.add(path, "is no string")
		return
	}
	said := unquote(value)
	switch {
	case f.filled && said == "":
		problems.add(path, "is empty")
	case f.words != nil && !slices.Contains(f.words, said):
		problems.add(path, "is %.40q, which is none of %s", said, strings.Join(f.words, ", "))
	case f.holds == "images" && !isDataURL(said):
		problems.add(path, "is no data:MIME;base64,… URL")
	case f.holds == "image_url" && !isDataURL(said) && !strings.HasPrefix(said, "https://") && !strings.HasPrefix(said, "http://"):
		problems.add(path, "is neither a URL of the web nor a data:MIME;base64,… URL")
	}
}

func checkCount(problems *Problems, path string, value []byte) {
	var n Count
	switch {
	case n.UnmarshalJSON(value) != nil:
		problems.add(path, "is no whole number up to %d", MaxCount)
	case n < 0:
		problems.add(path, "is negative")
	}
}

func checkList(problems *Problems, path string, value []byte, f field) {
	if !isKind(value, '[') {
		problems.add(path, "is no list")
		return
	}
	element := field{kind: kindOf(f.inner), holds: f.holds, inner: f.inner}
	for i, v := range elements(value) {
		if len(*problems) >= maxProblems {
			return
		}
		checkField(problems, nth(path, i), v, element)
	}
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
		problems.add("payload.error_message", "says what went wrong where nothing did")
	}
	if status == Completed && d.Attempt == 1 {
		problems.add("payload.attempt", "is left out where the first attempt succeeds")
	}
	if d.Attempt == 0 && valueOf(m.Payload(), "attempt") != nil {
		problems.add("payload.attempt", "counts from 1")
	}
	if d.RetryInMS != nil && !status.Retried() {
		problems.add("payload.retry_in_ms", "is there although %s is not tried again", status)
	}
}
