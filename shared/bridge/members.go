package bridge

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// members are the members of one line by their exact names: encoding/json's structs would take "Type" for "type", and its maps cost more
// than the line is worth. Values share the line's bytes.
type members []member

type member struct {
	name  []byte
	value json.RawMessage
}

// usualMembers is how many members a line has at most, if it says nothing unusual.
const usualMembers = 8

// object splits a line of JSON that is an object. One that nests too deep is split too, for what can be told of it in spite of that.
func object(data []byte) (members, Reason) {
	data = space(data)
	switch {
	case event.Depth(data) > event.MaxDepth:
		if json.Valid(data) && isObject(data) {
			return split(data), ReasonTooDeep
		}
		return nil, ReasonTooDeep
	case !json.Valid(data):
		return nil, ReasonNotJSON
	case !isObject(data):
		return nil, ReasonNotObject
	}
	return split(data), ""
}

// split walks over an object that is known to be JSON: every look ahead finds what it looks for.
func split(data []byte) members {
	all := make(members, 0, usualMembers)
	for rest := space(data[1:]); rest[0] != '}'; {
		name, after := value(rest)
		raw, after := value(space(after)[1:])
		all = append(all, member{unquote(name), raw})
		if rest = space(after); rest[0] == ',' {
			rest = space(rest[1:])
		}
	}
	return all
}

func unquote(name json.RawMessage) []byte {
	if bytes.IndexByte(name, '\\') < 0 && utf8.Valid(name) {
		return name[1 : len(name)-1]
	}
	text, _ := event.Text(name)
	return []byte(text)
}

// value returns the JSON value at the beginning of data and what follows it.
func value(data []byte) (raw json.RawMessage, rest []byte) {
	data = space(data)
	var end int
	switch data[0] {
	case '"':
		end = stringEnd(data)
	case '{', '[':
		end = nestedEnd(data)
	default:
		end = bytes.IndexAny(data, ",}] \t\r\n")
	}
	return json.RawMessage(data[:end:end]), data[end:]
}

// stringEnd is the length of the string at the beginning of data.
func stringEnd(data []byte) int {
	for i := 1; ; i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// nestedEnd is the length of the object or array at the beginning of data.
func nestedEnd(data []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch data[i] {
		case '"':
			i += stringEnd(data[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

func space(data []byte) []byte { return bytes.TrimLeft(data, " \t\r\n") }

// raw returns a member's value, nil if there is none. The last of repeated names counts.
func (m members) raw(name string) json.RawMessage {
	for i := len(m) - 1; i >= 0; i-- {
		if string(m[i].name) == name {
			return m[i].value
		}
	}
	return nil
}

// text returns a member that is a string, "" for any other.
func (m members) text(name string) string {
	s, _ := event.Text(m.raw(name))
	return s
}
