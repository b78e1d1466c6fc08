package chat

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// invitations tell people that somebody else has brought them into a group.
func (s Session) invitations(by id.User, members []Member) (told []notice.Notice, err error) {
	for _, m := range members {
		user, ok := m.ID.User()
		if s.Type != Group || !ok || user == by {
			continue
		}
		n, err := notice.Invited(user, s.ID, s.Name, by, m.JoinedAt)
		if err != nil {
			return nil, err
		}
		told = append(told, n)
	}
	return told, nil
}
