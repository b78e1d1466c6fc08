package cards

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

var errState = errors.New("malformed state of a trace")

// codec writes values one after the other, or reads them in the same order: one description serves both ways.
type codec struct {
	data    []byte
	reading bool
	version byte // of what is read or written
	failed  bool
}

func (c *codec) err() error {
	if c.failed || c.reading && len(c.data) > 0 {
		return fmt.Errorf("%w: cut off, or longer than it should be", errState)
	}
	return nil
}

func num[T ~int | ~int64 | ~uint64](c *codec, n *T) {
	if !c.reading {
		c.data = binary.AppendVarint(c.data, int64(*n)) //nolint:gosec // the way back is the same
		return
	}
	v, size := binary.Varint(c.data)
	if size <= 0 {
		c.failed, c.data = true, nil
		return
	}
	*n, c.data = T(v), c.data[size:]
}

func str[T ~string](c *codec, s *T) {
	n := len(*s)
	num(c, &n)
	if !c.reading {
		c.data = append(c.data, *s...)
		return
	}
	if !c.holds(n) {
		return
	}
	*s, c.data = T(c.data[:n]), c.data[n:]
}

// asJSON describes a value that has a stored form of its own, which is kept in form.
func (c *codec) asJSON(v json.Marshaler, form *[]byte) {
	if !c.reading && *form == nil {
		*form, _ = v.MarshalJSON() //nolint:errcheck // counters, bytes and names
	}
	c.bytes(form)
	if c.reading && json.Unmarshal(*form, v) != nil {
		c.failed, c.data = true, nil
	}
}

func (c *codec) bytes(b *[]byte) {
	n := len(*b)
	num(c, &n)
	if !c.reading {
		c.data = append(c.data, *b...)
		return
	}
	if c.holds(n) {
		*b, c.data = bytes.Clone(c.data[:n]), c.data[n:]
	}
}

func (c *codec) flag(b *bool) {
	var n int
	if *b {
		n = 1
	}
	num(c, &n)
	*b = n == 1
}

func (c *codec) float(f *float64) {
	bits := math.Float64bits(*f)
	num(c, &bits)
	*f = math.Float64frombits(bits)
}

// each describes the elements of a slice.
func each[T any](c *codec, list *[]T, one func(*T)) {
	n := len(*list)
	num(c, &n)
	if c.reading {
		if !c.holds(n) { // an element has at least one byte
			return
		}
		*list = make([]T, n)
	}
	for i := range *list {
		one(&(*list)[i])
	}
}

// holds says whether n more bytes can be there.
func (c *codec) holds(n int) bool {
	if n < 0 || n > len(c.data) {
		c.failed, c.data = true, nil
		return false
	}
	return true
}
