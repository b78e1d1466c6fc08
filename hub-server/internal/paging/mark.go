// Package paging says where a page of a list ended that is ordered by time, in a form that is opaque to clients.
package paging

import (
	"cmp"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Mark is the last item of a page: its time, to the microsecond, and its id, for items of the same time.
type Mark struct {
	At time.Time
	ID string
}

// String is "" for the zero mark.
func (m Mark) String() string {
	if m == (Mark{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(m.At.UnixMicro(), 10) + " " + m.ID))
}

// Parse reads what String wrote, of a list whose items have such ids; CursorInvalid for anything else.
func Parse(s string, isItem func(id string) bool) (Mark, error) {
	if s == "" {
		return Mark{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	micros, item, ok := strings.Cut(string(raw), " ")
	us, numErr := strconv.ParseInt(micros, 10, 64)
	mark := Mark{At: time.UnixMicro(us).UTC(), ID: item}
	if err != nil || !ok || numErr != nil || !isItem(item) || mark.String() != s {
		return Mark{}, fault.New(fault.CursorInvalid, "after is not the next of a page of this list. Begin with the first page.")
	}
	return mark, nil
}

// Compare orders marks by time, then by id.
func (m Mark) Compare(other Mark) int {
	return cmp.Or(m.At.Compare(other.At), strings.Compare(m.ID, other.ID))
}
