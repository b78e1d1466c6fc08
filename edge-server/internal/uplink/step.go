package uplink

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// The inputs.
type (
	// connected: the connection stands, or the journal has a new incarnation; Hello says what is in it.
	connected struct{ Hello wire.Hello }
	// welcomed: Local is the journal's own chain value at the watermark, if Known.
	welcomed struct {
		wire.Welcome
		Local wire.Chain
		Known bool
	}
	// acknowledged: Local is the journal's own chain value at the receipt's row, if Known.
	acknowledged struct {
		wire.CommittedTo
		Local wire.Chain
		Known bool
	}
	rewound  struct{ wire.Rewind }
	refused  struct{ wire.Refused }
	pinged   struct{ wire.Ping }
	grown    struct{ Head wire.ProducerSeq } // the journal has rows up to Head
	fetched  struct{ journal.Batch }         // answers fetch
	uploaded struct{}                        // answers upload
	ticked   struct{}                        // time has passed
)

type input interface{ isInput() }

func (connected) isInput()    {}
func (welcomed) isInput()     {}
func (acknowledged) isInput() {}
func (rewound) isInput()      {}
func (refused) isInput()      {}
func (pinged) isInput()       {}
func (grown) isInput()        {}
func (fetched) isInput()      {}
func (uploaded) isInput()     {}
func (ticked) isInput()       {}

// The outputs.
type (
	// publish sends a control message.
	publish struct {
		Verb subject.Verb
		Body any
	}
	send  struct{ wire.Frame } // sends rows
	fetch struct {
		From     wire.ProducerSeq
		MaxBytes int64
	} // asks for rows; answered with fetched
	upload   struct{ Blobs []event.BlobRef } // answered with uploaded
	keep     struct{ wire.CommitReceipt }    // the journal remembers it
	renumber struct{}                        // the journal begins a new incarnation; answered with connected
	forget   struct{ SHA256 string }         // the hub has lost this blob: upload it again
	// opened: the hub has taken the lane; it holds the rows up to Watermark.
	opened struct{ Watermark wire.ProducerSeq }
	hangUp struct {
		Fault *fault.Fault
		Retry bool
	} // ends the connection
)

type output interface{ isOutput() }

func (publish) isOutput()  {}
func (send) isOutput()     {}
func (fetch) isOutput()    {}
func (upload) isOutput()   {}
func (keep) isOutput()     {}
func (renumber) isOutput() {}
func (forget) isOutput()   {}
func (opened) isOutput()   {}
func (hangUp) isOutput()   {}
