package process

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// awaitExit returns when a child has ended, and leaves it unreaped.
func awaitExit(pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return fmt.Errorf("watch process: %w", err)
	}
	defer unix.Close(queue)
	watch := []unix.Kevent_t{{
		Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT,
	}}
	for {
		_, err := unix.Kevent(queue, watch, make([]unix.Kevent_t, 1), nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ESRCH):
			return nil // it has ended already
		default:
			return err
		}
	}
}

// Run returns when ctx ends. macOS gives orphans to launchd, which reaps them.
func (h *Host) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
