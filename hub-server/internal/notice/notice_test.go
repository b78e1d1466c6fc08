package notice_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestAFrameIsTheNoticeAsItStands(t *testing.T) {
	n, err := notice.Mentioned(id.NewUser(), "sess_1", "msg_1", "user_2")
	if err != nil {
		t.Fatal(err)
	}
	n.ID, n.CreatedAt, n.Read = "ntf_1", time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), true
	const want = `{"id":"ntf_1","type":"mention","payload":{"session_id":"sess_1","message_id":"msg_1","by_user_id":"user_2"},` +
		`"read":true,"created_at":"2026-01-02T03:04:05.000006Z"}`
	if got := string(notice.Frame(n)); got != want || !json.Valid([]byte(got)) {
		t.Errorf("frame %s, want %s", got, want)
	}
}

func FuzzAPageMarkIsReadAsItWasWritten(f *testing.F) {
	f.Add(paging.Mark{At: time.Unix(1, 2000).UTC(), ID: string(id.NewNotification())}.String())
	f.Add(paging.Mark{At: time.Unix(1, 2000).UTC(), ID: string(id.NewRequest())}.String())
	f.Add("garbage")
	f.Fuzz(func(t *testing.T, text string) {
		mark, err := notice.ParsePageMark(text)
		if err != nil && fault.CodeOf(err) != fault.CursorInvalid {
			t.Fatalf("error %v", err)
		}
		if err == nil && mark.String() != text {
			t.Fatalf("%q became %q", text, mark)
		}
	})
}
