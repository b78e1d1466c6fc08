package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// stage is where one measurement happens: a rig.TB without a test. It is used by one goroutine, but Errorf and Failed by any.
type stage struct {
	ctx      context.Context
	cleanups []func()
	failed   atomic.Bool
}

// aborted is what Fatalf panics with.
type aborted struct{ error }

// onStage runs a measurement and everything that it leaves to be cleaned up.
func onStage[T any](ctx context.Context, measure func(*stage) T) (result T, err error) {
	t := &stage{ctx: ctx}
	defer func() {
		if t.failed.Load() && err == nil {
			err = errors.New("something went wrong while it was measured")
		}
	}()
	defer func() { err = errors.Join(err, t.clean()) }()
	defer func() { err = errors.Join(err, recovered(recover())) }()
	return measure(t), nil
}

func recovered(cause any) error {
	switch cause := cause.(type) {
	case nil:
		return nil
	case aborted:
		return cause.error
	default:
		panic(cause)
	}
}

// clean runs the cleanups in reverse order; one that gives up does not keep the others from running.
func (t *stage) clean() (err error) {
	for len(t.cleanups) > 0 {
		last := t.cleanups[len(t.cleanups)-1]
		t.cleanups = t.cleanups[:len(t.cleanups)-1]
		func() {
			defer func() { err = errors.Join(err, recovered(recover())) }()
			last()
		}()
	}
	return err
}

func (t *stage) Helper() {}

func (t *stage) Context() context.Context { return t.ctx }

func (t *stage) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

func (t *stage) Failed() bool { return t.failed.Load() }

func (t *stage) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (t *stage) Errorf(format string, args ...any) {
	t.failed.Store(true)
	t.Logf(format, args...)
}

func (t *stage) Fatalf(format string, args ...any) {
	t.failed.Store(true)
	panic(aborted{fmt.Errorf(format, args...)})
}

// must is Fatalf for an error.
func (t *stage) must(err error) {
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func (t *stage) TempDir() string {
	dir, err := os.MkdirTemp("", "switchyard-bench-")
	t.must(err)
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a leftover in the temporary folder
	return dir
}
