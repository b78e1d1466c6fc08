package uplink

import (
	"context"
	"fmt"
	"time"

	rows "github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func (l *lane) receipt(ctx context.Context, data []byte) error {
	r, err := wire.Decode[wire.CommandReceipt](data)
	if err != nil || !l.greeted {
		return l.badFrame(err)
	}
	delete(l.unanswered, r.DeliveryID)
	if err := l.hub.Lanes.Receipt(ctx, l.edge, r); err != nil {
		return fmt.Errorf("record receipt: %w", err)
	}
	return nil
}

// sendCommands sends what the edge has not answered, each once per connection and again when its receipt is overdue.
func (l *lane) sendCommands(ctx context.Context) error {
	if !l.greeted {
		return nil
	}
	commands, err := l.hub.Lanes.PendingCommands(ctx, l.edge)
	if err != nil {
		return fmt.Errorf("read commands: %w", err)
	}
	for _, c := range commands[:min(len(commands), maxInFlight)] {
		if sent, ok := l.unanswered[c.DeliveryID]; ok && time.Since(sent) < rows.Silence {
			continue
		}
		l.unanswered[c.DeliveryID] = time.Now()
		l.send(subject.Command, c)
	}
	return nil
}
