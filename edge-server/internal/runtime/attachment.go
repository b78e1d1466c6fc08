package runtime

import (
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// attachments are those of a dispatch in the words of a turn line.
func attachments(of []wire.Attachment) []bridge.Attachment {
	var all []bridge.Attachment
	for _, a := range of {
		all = append(all, bridge.Attachment{Kind: string(a.Kind), URL: a.URL, Filename: a.Filename, MIMEType: a.MIMEType, Size: a.Size})
	}
	return all
}
