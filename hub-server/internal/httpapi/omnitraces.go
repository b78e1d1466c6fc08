package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ListTraces implements listTraces.
func (h handlers) ListTraces(ctx context.Context, r ListTracesRequestObject) (ListTracesResponseObject, error) {
	done, err := h.traces.take(ctx, caller(ctx).User)
	if err != nil {
		return nil, err
	}
	defer done()
	session, epoch := id.Session(r.SessionID), h.Epoch()
	sums := digests{epoch: epoch, split: trace.NewSplitter(string(session)), files: map[string]*digest{}}
	seer := h.sightOf(ctx)
	for after, more := omnilog.FromTheBeginning, true; more; {
		page, err := h.Omni.After(ctx, session, after, omniPageMost)
		if err != nil {
			return nil, omniProblem(err, epoch)
		}
		seer.brought = page.View.Brought
		for _, item := range page.Items {
			if item.Message, err = seer.message(ctx, item.Edge, item.Message); err != nil {
				return nil, err
			}
			sums.add(item)
		}
		after, more = page.UpTo, page.More
	}
	// Behind the reads: whoever was removed before something was committed does not hear of it (SEC13).
	if in, err := h.Sessions.IsMember(ctx, caller(ctx).User, session); err != nil || !in {
		return nil, errorOr(err, notThere())
	}
	return ListTraces200JSONResponse{Traces: sums.traces()}, nil
}

func errorOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// digests are the traces of a stream, added up.
type digests struct {
	epoch wire.Epoch
	split *trace.Splitter
	files map[string]*digest
	order []*digest
}

type digest struct {
	sum         trace.Sum
	name        string
	session     string
	first, last omnilog.Position
}

func (d *digests) add(item omnilog.Item) {
	record, ok := d.split.Add(item.Message)
	if !ok {
		return
	}
	file := d.files[record.File]
	if file == nil {
		file = &digest{name: record.File, session: record.Session, first: item.Position}
		d.files[record.File], d.order = file, append(d.order, file)
	}
	file.sum.Add(record.Message.Line())
	file.last = item.Position
}

func (d *digests) traces() []Trace {
	return mapAll(d.order, func(f *digest) Trace {
		sum := f.sum.Digest(f.name)
		return Trace{
			Name: f.name, SessionID: f.session, Lines: sum.Lines, Bytes: sum.Bytes, Sha256: sum.SHA256,
			From: f.first.Text(d.epoch), To: f.last.Text(d.epoch),
		}
	})
}
