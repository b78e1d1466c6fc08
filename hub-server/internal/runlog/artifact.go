package runlog

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Artifact is a file that a run made. Its bytes are a blob.
type Artifact struct {
	ID          id.Artifact
	Run         id.Run
	Seq         EventSeq // of its artifact.created
	Filename    string   // as the agent gave it: a label, never a path to open
	ContentType string
	Size        int64 // bytes
	Blob        BlobHash
	CreatedAt   time.Time
}
