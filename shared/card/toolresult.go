package card

import (
	"cmp"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Response is the result as it is kept in the log of the run.
func (f ToolResult) Response() event.ClientToolResponse {
	r := event.ClientToolResponse{Status: event.ClientToolStatus(f.Status), Output: f.Output}
	if e := f.Error; e != nil {
		r.Error = &event.ErrorObj{
			Code: fault.Code(cmp.Or(e.Code, string(e.Type))), Message: cmp.Or(e.Message, e.UserMessage), Retryable: e.Retryable, UserMessage: e.UserMessage,
		}
		if !says(r.Error.Code) && known(e.Type) {
			r.Error.Type = string(e.Type)
		}
	}
	if len(f.Metadata) > 0 {
		r.Metadata, _ = event.Encode(f.Metadata) // it was read from JSON, so it is JSON
	}
	return r
}
