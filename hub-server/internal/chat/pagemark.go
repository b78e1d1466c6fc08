package chat

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// PageMark is where a page of conversations ended. Its text form is opaque to clients.
type PageMark struct {
	UpdatedAt time.Time
	Session   id.Session
}

// String is "" for the zero mark.
func (m PageMark) String() string {
	if m == (PageMark{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(m.UpdatedAt.UnixMicro(), 10) + " " + string(m.Session)))
}

// ParsePageMark reads what String wrote; CursorInvalid for anything else.
func ParsePageMark(s string) (PageMark, error) {
	if s == "" {
		return PageMark{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	micros, session, ok := strings.Cut(string(raw), " ")
	us, numErr := strconv.ParseInt(micros, 10, 64)
	parsed, idErr := id.ParseSession(session)
	mark := PageMark{UpdatedAt: time.UnixMicro(us).UTC(), Session: parsed}
	if err != nil || !ok || numErr != nil || idErr != nil || mark.String() != s {
		return PageMark{}, fault.New(fault.CursorInvalid, "after is not the next of a page of this list. Begin with the first page.")
	}
	return mark, nil
}
