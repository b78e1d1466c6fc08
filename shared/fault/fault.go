// Package fault is the vocabulary of errors that cross a boundary: a code for programs and a sentence for people. Everything
// else stays inside the process: an error without a fault in its chain is answered as Internal and its text is only logged.
package fault

import (
	"errors"
	"fmt"
)

// Fault is an error whose code and sentence may leave the process.
type Fault struct {
	Code   Code
	Detail string // one sentence that says what is wrong and what to do
	cause  error
}

// New returns a fault with the given code and sentence.
func New(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Wrap is New with the error that led to it: kept for logs and errors.Is, never shown to clients.
func Wrap(cause error, code Code, format string, args ...any) *Fault {
	f := New(code, format, args...)
	f.cause = cause
	return f
}

func (f *Fault) Error() string {
	if f.cause != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code, f.Detail, f.cause)
	}
	return fmt.Sprintf("%s: %s", f.Code, f.Detail)
}

// Unwrap returns the cause, if any.
func (f *Fault) Unwrap() error { return f.cause }

// Is makes errors.Is(err, fault.New(code, "")) true for every fault with that code.
func (f *Fault) Is(target error) bool {
	var other *Fault
	return errors.As(target, &other) && other.Code == f.Code
}

// CodeOf returns the code of the first fault in err's chain, Internal for any other error and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var f *Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return Internal
}

// Public returns the fault to show for err: the one in its chain, or a neutral Internal.
func Public(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return Wrap(err, Internal, "Something went wrong on our side. It has been logged with the trace id of this answer.")
}
