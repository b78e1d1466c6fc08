package card

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Bounds of what a client says. How large a frame may be is for the server that reads it.
const (
	maxFrameID = 256 // bytes of any id
	maxBlocks  = 64
	maxCursors = 4096
	maxShown   = 64 // bytes of a word of the client that an error repeats
)

// ReceivedFrame is a frame with what every frame may have.
type ReceivedFrame struct {
	Type    string // as the client wrote it, cut short
	EventID string // a name that the client gave it; "" if none
	Frame   ClientFrame
}

// ReadFrame reads what a client sent. What is wrong with it is a *fault.Fault that says what to do and that Refusal makes an invalid_input of; type
// and event_id are returned all the same if they could be read. Keys that are not known are ignored: a client may be newer than the server.
func ReadFrame(text []byte) (ReceivedFrame, error) {
	var head struct {
		Type    string `json:"type"`
		EventID string `json:"event_id"`
	}
	if !isObject(text) || event.Depth(text) > event.MaxDepth {
		return ReceivedFrame{}, refuse(fault.InvalidJSON, "A frame is one JSON object, nested at most %d deep.", event.MaxDepth)
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return ReceivedFrame{}, refuse(fault.InvalidRequest, "type and event_id of a frame are strings.")
	}
	got := ReceivedFrame{Type: shorten(head.Type)}
	if len(head.EventID) > maxFrameID {
		return got, refuse(fault.InvalidRequest, "event_id has at most %d bytes.", maxFrameID)
	}
	got.EventID = head.EventID
	read, ok := frameReaders[head.Type]
	if !ok {
		return got, refuse(fault.InvalidRequest, "There is no frame of type %q. Send one of %s.", got.Type, strings.Join(frameTypes, ", "))
	}
	frame, err := read(text)
	if err != nil {
		return got, err
	}
	got.Frame = frame
	return got, nil
}

// frameTypes are what a client may send, in the order of S0 §9. Pong is not among them, as nobody has to send it.
var frameTypes = []string{
	SessionCreate{}.frame(), UserMessage{}.frame(), UserInject{}.frame(), ToolResult{}.frame(), PromptResponse{}.frame(), SessionInterrupt{}.frame(),
	SessionResume{}.frame(), pingFrame,
}

var frameReaders = map[string]func([]byte) (ClientFrame, error){
	SessionCreate{}.frame():    frameReader(SessionCreate.check),
	UserMessage{}.frame():      readMessage,
	UserInject{}.frame():       frameReader(UserInject.check),
	ToolResult{}.frame():       frameReader(ToolResult.check),
	PromptResponse{}.frame():   frameReader(PromptResponse.check),
	SessionInterrupt{}.frame(): frameReader(SessionInterrupt.check),
	SessionResume{}.frame():    readResume,
	pingFrame:                  func([]byte) (ClientFrame, error) { return Ping{}, nil },
	pongFrame:                  func([]byte) (ClientFrame, error) { return Pong{}, nil },
}

// frameReader reads a frame of a type and holds it to what check says: what is wrong and what would be right, "" for nothing.
func frameReader[F ClientFrame](check func(F) string) func([]byte) (ClientFrame, error) {
	return func(text []byte) (ClientFrame, error) {
		var f F
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, fault.Wrap(err, fault.InvalidRequest, "The fields of a %s frame are not as they must be: %s.", f.frame(), misfit(err))
		}
		if wrong := check(f); wrong != "" {
			return nil, refuse(fault.InvalidRequest, "%s", wrong)
		}
		return f, nil
	}
}

// readResume reads a session.resume (S0 §9). One without last_seq is refused: taken for 0, it would tell a client everything that it has already.
func readResume(text []byte) (ClientFrame, error) {
	frame, err := frameReader(SessionResume.check)(text)
	if err != nil {
		return nil, err
	}
	var has struct {
		LastSeq *int64 `json:"last_seq"`
	}
	if err := json.Unmarshal(text, &has); err != nil || has.LastSeq == nil {
		return nil, refuse(fault.InvalidRequest, "%s", lastSeqRule)
	}
	return frame, nil
}

func isObject(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '{' && json.Valid(text)
}

func refuse(code fault.Code, format string, args ...any) *fault.Fault {
	return fault.New(code, format, args...)
}

func shorten(word string) string {
	if len(word) <= maxShown {
		return word
	}
	return strings.ToValidUTF8(word[:maxShown], "") + "…"
}
