package lane

import (
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Batch is a run of consecutive rows on their way to the hub.
type Batch struct {
	First wire.ProducerSeq
	Rows  [][]byte
	Bytes int64 // of all rows together
	// Missing are the blobs that the hub must have before the row behind this batch may be sent.
	Missing []event.BlobRef
}

// Last is the number of the last row; First-1 for an empty batch.
func (b Batch) Last() wire.ProducerSeq { return b.First + wire.ProducerSeq(len(b.Rows)) - 1 }

// The inputs of a Sender.
type (
	// Connected: the connection stands, or the journal has a new incarnation; Hello says what is in it.
	Connected struct{ Hello wire.Hello }
	// Welcomed: Local is the journal's own chain value at the watermark, if Known.
	Welcomed struct {
		wire.Welcome
		Local wire.Chain
		Known bool
	}
	// Acknowledged: Local is the journal's own chain value at the receipt's row, if Known.
	Acknowledged struct {
		wire.CommittedTo
		Local wire.Chain
		Known bool
	}
	Rewound  struct{ wire.Rewind }
	Refused  struct{ wire.Refused }
	Pinged   struct{ wire.Ping }
	Grown    struct{ Head wire.ProducerSeq } // the journal has rows up to Head
	Fetched  struct{ Batch }                 // answers Fetch
	Uploaded struct{}                        // answers Upload
	Ticked   struct{}                        // time has passed
)

// Input is something that a Sender hears or that happens to it.
type Input interface{ isInput() }

func (Connected) isInput()    {}
func (Welcomed) isInput()     {}
func (Acknowledged) isInput() {}
func (Rewound) isInput()      {}
func (Refused) isInput()      {}
func (Pinged) isInput()       {}
func (Grown) isInput()        {}
func (Fetched) isInput()      {}
func (Uploaded) isInput()     {}
func (Ticked) isInput()       {}

// The outputs of a Sender.
type (
	// Publish sends a control message.
	Publish struct {
		Verb subject.Verb
		Body any
	}
	Send  struct{ wire.Frame } // sends rows
	Fetch struct {
		From     wire.ProducerSeq
		MaxBytes int64
	} // asks for rows; answered with Fetched
	Upload   struct{ Blobs []event.BlobRef } // answered with Uploaded
	Keep     struct{ wire.CommitReceipt }    // the journal remembers it
	Renumber struct{}                        // the journal begins a new incarnation; answered with Connected
	Forget   struct{ SHA256 string }         // the hub has lost this blob: upload it again
	// Opened: the hub has taken the lane; it holds the rows up to Watermark.
	Opened struct{ Watermark wire.ProducerSeq }
	HangUp struct {
		Fault *fault.Fault
		Retry bool
	} // ends the connection
)

// Output is something that a Sender wants done.
type Output interface{ isOutput() }

func (Publish) isOutput()  {}
func (Send) isOutput()     {}
func (Fetch) isOutput()    {}
func (Upload) isOutput()   {}
func (Keep) isOutput()     {}
func (Renumber) isOutput() {}
func (Forget) isOutput()   {}
func (Opened) isOutput()   {}
func (HangUp) isOutput()   {}
