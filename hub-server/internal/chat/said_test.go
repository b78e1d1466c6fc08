package chat

import (
	"testing"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestWhatAMessageSays(t *testing.T) {
	for kind, c := range map[ContentType]struct{ content, said string }{
		Text:       {`{"text":"hi","agent_task":{"task_id":"run_1"}}`, "hi\n"},
		Code:       {`{"code":"x := 1","language":"go","filename":"a.go"}`, "x := 1\na.go\ngo\n"},
		Diff:       {`{"diff":"+x","title":"more","filename":"a.go"}`, "+x\nmore\na.go\n"},
		Image:      {`{"url":"data:image/png;base64,AAAA","alt":"a cat","caption":"mine","width":3}`, "mine\na cat\n"},
		File:       {`{"url":"https://x/y","filename":"plan.pdf","caption":"the plan","size":3}`, "the plan\nplan.pdf\n"},
		LinkCard:   {`{"url":"https://x/y","title":"News","description":"of today","site_name":"X"}`, "News\nof today\nX\nhttps://x/y\n"},
		DeployCard: {`{"title":"web","status":"failed","environment":"prod","version":"v2","description":"oom"}`, "web\noom\nprod\nv2\nfailed\n"},
	} {
		if got := (Message{ContentType: kind, Content: []byte(c.content)}).Said(); got != c.said {
			t.Errorf("%s says %q, want %q", kind, got, c.said)
		}
		if saying[kind] == nil {
			t.Errorf("nothing is read of %s", kind)
		}
	}
	for kind := range shapes {
		if saying[kind] == nil {
			t.Errorf("nothing is read of %s", kind)
		}
	}
	m := Message{ContentType: Text, Content: []byte(`{"text":"see"}`), Attachments: []wire.Attachment{{Filename: "plan.pdf"}}}
	if m.Said() != "see\nplan.pdf\n" {
		t.Errorf("with a file it says %q", m.Said())
	}
	m.Recalled = true
	if m.Said() != "" {
		t.Errorf("taken back, it says %q", m.Said())
	}
}
