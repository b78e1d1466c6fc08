package gate

import (
	"encoding/binary"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
)

// First bytes of the WebSocket frames that we write ourselves: FIN and the opcode (RFC 6455, 5.2). A server does not mask.
const (
	finText = 0x81
	finPing = 0x89
)

const (
	closeOpcode = 0x08
	opcodeBits  = 0x0f
	shortFrame  = 125     // payloads up to here have their length in the second byte
	mediumFrame = 1 << 16 // … and below this in the two bytes behind it
	maxHeader   = 10      // bytes of the head of a frame
)

// appendHeader writes the head of an unmasked, unfragmented frame behind dst; payload is in bytes.
func appendHeader(dst []byte, first byte, payload int) []byte {
	switch {
	case payload <= shortFrame:
		return append(dst, first, byte(payload))
	case payload < mediumFrame:
		return binary.BigEndian.AppendUint16(append(dst, first, 126), uint16(payload)) //nolint:gosec // below 1<<16
	}
	return binary.BigEndian.AppendUint64(append(dst, first, 127), uint64(payload)) //nolint:gosec // a length
}

// appendFrame writes f with its number on the connection as one text frame behind dst.
func appendFrame(dst []byte, f delivery.Frame, seq uint64) []byte {
	return f.Append(appendHeader(dst, finText, f.Len(seq)), seq)
}
