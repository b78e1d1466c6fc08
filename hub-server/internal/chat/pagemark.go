package chat

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// ParsePageMark reads where a page of conversations ended; CursorInvalid if none ends there.
func ParsePageMark(s string) (paging.Mark, error) {
	return paging.Parse(s, func(item string) bool {
		_, err := id.ParseSession(item)
		return err == nil
	})
}
