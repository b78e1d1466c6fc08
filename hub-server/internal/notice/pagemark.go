package notice

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// ParsePageMark reads where a page of the list ended, at a notice or at a question; CursorInvalid if none ends there.
func ParsePageMark(s string) (paging.Mark, error) {
	return paging.Parse(s, func(item string) bool {
		_, notice := id.ParseNotification(item)
		_, question := id.ParseRequest(item)
		return notice == nil || question == nil
	})
}
