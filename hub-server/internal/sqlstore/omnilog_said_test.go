package sqlstore

import (
	"reflect"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// What was sent with a message is no part of its words, and nothing is left of one that was taken back.
func TestAMessageIsItsWordsAndItsFiles(t *testing.T) {
	const image, address = "data:image/png;base64,aGk=", "https://example.com/x.bin"
	m := chat.Message{
		Sender: chat.OfUser(id.User("user_0000000000000001")), ContentType: chat.Text, Content: []byte(`{"text":"Look.\n"}`),
		Attachments: []wire.Attachment{{Kind: "image", URL: image}, {Kind: "file", URL: address, Filename: "x.bin", MIMEType: "application/x-y"}},
	}
	files := []omni.File{{Image: true, URL: image}, {Name: "x.bin", Type: "application/x-y", URL: address}}
	if got, want := saidIn(m), (omni.Message{Text: "Look.\n", Files: files}); !reflect.DeepEqual(got, want) {
		t.Errorf("with words it is %+v, want %+v", got, want)
	}
	m.Content = []byte(`{"text":""}`)
	if got, want := saidIn(m), (omni.Message{Files: files}); !reflect.DeepEqual(got, want) {
		t.Errorf("without words it is %+v, want %+v", got, want)
	}
	m.Recalled, m.Attachments = true, nil
	if got := saidIn(m); !reflect.DeepEqual(got, omni.Message{}) {
		t.Errorf("taken back it is %+v", got)
	}
}
