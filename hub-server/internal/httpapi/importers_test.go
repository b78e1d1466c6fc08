package httpapi

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestOnlySoManyTracesAreTakenAtOnce(t *testing.T) {
	all := newImporters()
	var done []func()
	for _, user := range []id.User{"u_1", "u_2", "u_3", "u_4"} {
		leave, err := all.take(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, leave)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, user := range []id.User{"u_1", "u_5"} { // one is at it already, and there is no room for the other
		if _, err := all.take(gone, user); !errors.Is(err, context.Canceled) {
			t.Errorf("%s has %v", user, err)
		}
	}
	for _, leave := range done {
		leave()
	}
	for range importsAtOnce + 1 {
		leave, err := all.take(t.Context(), "u_5")
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	if len(all.people.of) != 0 || len(all.all) != 0 {
		t.Errorf("%d are remembered, %d at work", len(all.people.of), len(all.all))
	}
}

func TestATraceThatComesSlowlyIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := within{strings.NewReader("abc"), time.Now().Add(importPatience)}
		time.Sleep(importPatience)
		if n, err := body.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("in time: %d, %v", n, err)
		}
		time.Sleep(time.Second)
		if _, err := io.ReadAll(body); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("late: %v", err)
		}
	})
}
