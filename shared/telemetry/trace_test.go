package telemetry_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

func TestFreshIDsAreValidAndDiffer(t *testing.T) {
	a, b := telemetry.NewTrace(), telemetry.NewTrace()
	if !a.TraceID.Valid() || !a.SpanID.Valid() || len(a.TraceID) != 32 || len(a.SpanID) != 16 || a.TraceID == b.TraceID || a.SpanID == b.SpanID {
		t.Errorf("%+v %+v", a, b)
	}
}

func TestTraceparentRoundTrips(t *testing.T) {
	trace := telemetry.NewTrace()
	if got, ok := telemetry.ParseTraceparent(trace.Traceparent()); !ok || got != trace {
		t.Errorf("%q became %+v", trace.Traceparent(), got)
	}
}

func TestTraceparentOfANewerVersionIsRead(t *testing.T) {
	trace := telemetry.NewTrace()
	later := "01" + trace.Traceparent()[2:] + "-more"
	if got, ok := telemetry.ParseTraceparent(later); !ok || got != trace {
		t.Errorf("%q became %+v, %v", later, got, ok)
	}
}

func TestMalformedTraceparentIsNone(t *testing.T) {
	good := telemetry.NewTrace().Traceparent()
	for _, bad := range []string{
		"", "-", good[3:], good[:52], good + "-more", "ff" + good[2:], strings.ToUpper(good[:40]) + good[40:], strings.Replace(good, "-01", "-1", 1),
		"00-" + strings.Repeat("0", 32) + good[35:], good[:36] + strings.Repeat("0", 16) + "-01", "01" + good[2:] + "-" + strings.Repeat("x", 200),
	} {
		if got, ok := telemetry.ParseTraceparent(bad); ok {
			t.Errorf("%q became %+v", bad, got)
		}
	}
}

func FuzzParseTraceparent(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Add("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-x")
	f.Fuzz(func(t *testing.T, header string) {
		trace, ok := telemetry.ParseTraceparent(header)
		if !ok {
			return
		}
		if again, ok := telemetry.ParseTraceparent(trace.Traceparent()); !ok || again != trace {
			t.Fatalf("%+v became %+v", trace, again)
		}
	})
}
