package account

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

func testHasher(t *testing.T, c HashCost) *Hasher {
	t.Helper()
	h, err := NewHasher(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var cheap = HashCost{MemoryKiB: 64, Iterations: 1, Parallel: 2, MaxWaiting: 8}

func TestPasswordRules(t *testing.T) {
	for password, good := range map[string]bool{
		"ten chars!": true, "nine char": false, "": false, strings.Repeat("x", MaxPasswordBytes): true,
		strings.Repeat("x", MaxPasswordBytes+1): false, "long-user-name": false, "LONG-user-name": false, "long-user-name2": true,
		"\xff\xfe invalid text": false, "zehn äöü!!": true,
	} {
		err := checkNewPassword(password, "long-user-name")
		if (err == nil) != good || (err != nil && fault.CodeOf(err) != fault.InvalidRequest) {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestVerifyTellsRightFromWrongAndUnknown(t *testing.T) {
	h := testHasher(t, cheap)
	hash, err := h.Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		password, hash string
		match          bool
	}{{"correct horse", hash, true}, {"wrong horse", hash, false}, {"correct horse", "", false}} {
		if match, err := h.Verify(t.Context(), c.password, c.hash); err != nil || match != c.match {
			t.Errorf("Verify(%q, %q) = %v, %v", c.password, c.hash, match, err)
		}
	}
	if _, err := h.Verify(t.Context(), strings.Repeat("x", 1<<20), hash); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("1 MiB password: %v", err)
	}
}

func TestSEC24HashesRunInTurnsAndTheQueueIsBounded(t *testing.T) {
	h := testHasher(t, cheap)
	var running, most, busy atomic.Int64
	release, full := make(chan struct{}), make(chan struct{})
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			err := h.turn(t.Context(), func() {
				most.Store(max(most.Load(), running.Add(1)))
				<-release
				running.Add(-1)
			})
			if fault.CodeOf(err) == fault.Busy {
				if busy.Add(1) == 42 {
					close(full)
				}
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	<-full // 2 hash, 6 wait, 42 were told at once
	close(release)
	callers.Wait()
	if most.Load() > 2 || busy.Load() != 42 {
		t.Fatalf("%d at the same time, %d told to come back", most.Load(), busy.Load())
	}
}

func TestSEC24ATurnIsHeldUntilTheHashIsDone(t *testing.T) {
	h := testHasher(t, HashCost{MemoryKiB: 64, Iterations: 1, Parallel: 1, MaxWaiting: 8})
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("client went away")
	err := h.turn(ctx, func() {
		cancel(gone) // the caller's request ends while its hash runs
		waiting, stop := context.WithCancel(t.Context())
		stop()
		if err := h.turn(waiting, func() { t.Error("a second hash runs beside the first") }); !errors.Is(err, context.Canceled) {
			t.Errorf("second caller: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.turn(ctx, func() { t.Error("a hash for a caller who is gone") }); !errors.Is(err, gone) {
		t.Fatal(err)
	}
}
