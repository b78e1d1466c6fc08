package simulator

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Nobody here says anything to a run at work, and nobody has an approval mode: both are of one transaction, which the store's own tests hold.
var errNobody = errors.New("nobody here steers")

// ApprovalMode implements runlog.PersonStore.
func (v view) ApprovalMode(context.Context, id.Session, id.User) (wire.ApprovalMode, error) {
	return "", nil
}

// ActiveRuns implements runlog.RunStore.
func (v view) ActiveRuns(context.Context, id.Session) ([]runlog.Run, error) { return nil, errNobody }

// Order implements runlog.CommandStore.
func (v view) Order(context.Context, runlog.Order) (bool, error) { return false, errNobody }

// Steered implements runlog.CommandStore.
func (v view) Steered(context.Context, id.Session, id.Steer) (r runlog.Run, sent, taken bool, err error) {
	return runlog.Run{}, false, false, errNobody
}

// TakeBack implements runlog.CommandStore.
func (v view) TakeBack(context.Context, id.User, runlog.Run, id.Steer, runlog.Entry) (bool, error) {
	return false, errNobody
}

// CloseSteer implements runlog.CommandStore.
func (v view) CloseSteer(context.Context, id.Edge, wire.CommandReceipt, runlog.Entry) error {
	return errNobody
}

// SetMode implements runlog.CommandStore.
func (v view) SetMode(context.Context, runlog.ModeChange) (bool, error) { return false, errNobody }

// Settled implements prompt.Store.
func (v view) Settled(context.Context, id.Session, string) ([]prompt.Prompt, error) {
	return nil, errNobody
}
