package simulator

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

var (
	_ delivery.Outbox    = view{}
	_ delivery.Expander  = view{}
	_ delivery.MarkStore = view{}
	_ prompt.Store       = view{}
)

// Bounds implements delivery.Outbox.
func (v view) Bounds(ctx context.Context) (delivery.Bounds, error) {
	if err := rest(ctx); err != nil {
		return delivery.Bounds{}, err
	}
	return delivery.Bounds{Epoch: v.epoch, Floor: v.floor, Head: delivery.Position(len(v.outbox))}, nil
}

// Rows implements delivery.Outbox.
func (v view) Rows(ctx context.Context, after delivery.Position, limit int) ([]delivery.Row, error) {
	if err := rest(ctx); err != nil {
		return nil, err
	}
	rows := v.outbox[max(after, v.floor):]
	return rows[:min(limit, len(rows))], nil
}

// RowsFor implements delivery.Outbox. Everybody is in the one conversation.
func (v view) RowsFor(ctx context.Context, _ id.User, after, upTo delivery.Position, limit int) ([]delivery.Row, error) {
	if err := rest(ctx); err != nil {
		return nil, err
	}
	if after < v.floor {
		return nil, delivery.ErrTrimmed
	}
	rows := v.outbox[after:upTo]
	return rows[:min(limit, len(rows))], nil
}

// Backlog implements delivery.Outbox.
func (v view) Backlog(ctx context.Context, user id.User, after, upTo delivery.Position, limit int) (delivery.Backlog, error) {
	rows, err := v.RowsFor(ctx, user, after, upTo, limit)
	return delivery.Backlog{Rows: len(rows)}, err
}

// SessionsOf implements delivery.Outbox.
func (v view) SessionsOf(ctx context.Context, _ id.User, _ delivery.Position) ([]id.Session, error) {
	return []id.Session{v.world.session}, rest(ctx)
}

// told is what a frame of a run or of a question says.
type told struct {
	Run    id.Run          `json:"run"`
	Seq    runlog.EventSeq `json:"seq"`
	ID     id.Event        `json:"id"`
	Prompt id.Request      `json:"prompt,omitempty"`
}

// Expand implements delivery.Expander.
func (v view) Expand(ctx context.Context, rows []delivery.Row) (out []delivery.Expansion, err error) {
	for _, row := range rows {
		one, err := v.expand(ctx, row)
		if err != nil {
			return out, err
		}
		out = append(out, one)
	}
	return out, nil
}

// expand makes one frame per event.
func (v view) expand(ctx context.Context, row delivery.Row) (out delivery.Expansion, err error) {
	if row.Kind == delivery.KindFrame {
		return delivery.Expansion{Bodies: []delivery.Body{{Type: event.FrameType(row.FrameType), Payload: row.Payload}}}, nil
	}
	if err := rest(ctx); err != nil {
		return out, err
	}
	for _, e := range v.byRun[row.Run].events[row.From-1 : row.To] {
		payload, err := json.Marshal(told{Run: row.Run, Seq: e.Seq, ID: e.ID, Prompt: row.Prompt})
		if err != nil {
			return out, err
		}
		kind := event.FrameAgentStream
		if row.Prompt != "" {
			kind = "notification.new"
		}
		out.Bodies = append(out.Bodies, delivery.Body{Type: kind, Payload: payload})
	}
	return out, nil
}

// DeviceMark implements delivery.MarkStore.
func (v view) DeviceMark(ctx context.Context, _ id.User, device id.Device) (delivery.Mark, bool, error) {
	if err := rest(ctx); err != nil {
		return delivery.Mark{}, false, err
	}
	m, ok := v.marks[device]
	return m.Mark, ok, nil
}

// SaveDeviceMarks implements delivery.MarkStore.
func (v view) SaveDeviceMarks(ctx context.Context, moved []delivery.DeviceMark) error {
	return v.write(ctx, func() error {
		for _, m := range moved {
			if m.Position >= v.marks[m.Device].Position {
				v.marks[m.Device] = m
			}
		}
		return nil
	})
}

// No value here is large and no agent makes files: blobs are not played.

func (v view) HasBlob(context.Context, id.Edge, runlog.BlobHash) (bool, error) { return true, nil }

func (v view) BeginUpload(context.Context) (runlog.Upload, error) { return 0, errNoBlobs() }

func (v view) AddPart(context.Context, runlog.Upload, int, []byte) error { return errNoBlobs() }

func (v view) Part(context.Context, runlog.Upload, int) ([]byte, error) { return nil, errNoBlobs() }

func (v view) FinishUpload(context.Context, id.Edge, runlog.Upload, runlog.BlobHash, int64) error {
	return errNoBlobs()
}

func (v view) DropUpload(context.Context, runlog.Upload) error { return nil }

func (v view) SweepUploads(context.Context, time.Time) error { return nil }

func (v view) OpenBlob(context.Context, runlog.BlobHash) (int64, func(context.Context, int) ([]byte, error), error) {
	return 0, nil, io.ErrUnexpectedEOF
}

func (v view) Artifacts(context.Context, id.Run) ([]runlog.Artifact, error) { return nil, nil }

func (v view) Artifact(context.Context, id.Artifact) (runlog.Artifact, error) {
	return runlog.Artifact{}, errNoBlobs()
}

func errNoBlobs() error { return fault.New(fault.NotFound, "There are no blobs in this world.") }

// names says whether an event is about a question.
func names(e runlog.StoredEvent, request id.Request) bool {
	var p event.PromptExpiredPayload // all events of prompts have its request_id
	return json.Unmarshal(e.Payload, &p) == nil && p.RequestID == request
}
