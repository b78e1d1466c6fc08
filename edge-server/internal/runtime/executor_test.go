package runtime_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// A start that a later one may not share the fate of is told apart from one that nobody needs to try again.
func TestAStartWithoutRoomMayBeTriedAgain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Code
	}{
		{&os.PathError{Op: "open", Path: "/dev/null", Err: unix.EMFILE}, fault.Busy},
		{&os.SyscallError{Syscall: "pipe2", Err: unix.ENFILE}, fault.Busy},
		{fmt.Errorf("fork: %w", unix.EAGAIN), fault.Busy},
		{unix.ENOMEM, fault.Busy},
		{unix.ENOSPC, fault.Busy},
		{fs.ErrNotExist, fault.StartFailed},
		{unix.EACCES, fault.StartFailed},
		{errors.New("boom"), fault.StartFailed},
	} {
		if got := fault.CodeOf(runtime.StartFailed(c.err, "agent")); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}
