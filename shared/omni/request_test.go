package omni_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// TestTheFactOfARequestHasTheStopReasons holds the fact in a run's log to the words that are told of it here.
func TestTheFactOfARequestHasTheStopReasons(t *testing.T) {
	field, ok := reflect.TypeFor[event.RequestEndPayload]().FieldByName("Status")
	if !ok {
		t.Fatal("no field Status")
	}
	var words []string
	for _, r := range omni.StopReasons() {
		words = append(words, string(r))
		if status := event.RequestStatus(r); status.Retried() != r.Retried() {
			t.Errorf("%s is tried again: %v and %v", r, status.Retried(), r.Retried())
		}
	}
	if got := field.Tag.Get("oneof"); got != strings.Join(words, ",") {
		t.Errorf("a request ends %s", got)
	}
}
