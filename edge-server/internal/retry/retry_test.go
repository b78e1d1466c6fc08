package retry_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/edge-server/internal/retry"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// play makes a request until it is not made again, and returns the waits between. It gives up where the sequence does not end.
func play(t rapid.TB, ending func(attempt int) retry.Ending) []time.Duration {
	var waits []time.Duration
	for attempt := 1; attempt < 100; attempt++ {
		d := retry.Step(attempt, ending(attempt))
		if !d.Again {
			if d.Wait != 0 {
				t.Fatalf("waits %s for nothing", d.Wait)
			}
			return waits
		}
		waits = append(waits, d.Wait)
	}
	t.Fatal("never ends")
	return nil
}

func always(e retry.Ending) func(int) retry.Ending { return func(int) retry.Ending { return e } }

func TestWaitsAreThoseOfS1ForTheThreeReasonsAndNoOther(t *testing.T) {
	s := time.Second
	want := []time.Duration{2 * s, 4 * s, 8 * s, 16 * s, 30 * s}
	for _, reason := range omni.StopReasons() {
		retried := reason == "failed" || reason == "timeout" || reason == "malformed"
		got := play(t, always(retry.Ending{Reason: reason}))
		if retried && !slices.Equal(got, want) || !retried && len(got) > 0 {
			t.Errorf("%s waits %v", reason, got)
		}
		if got := play(t, always(retry.Ending{Reason: reason, Permanent: true})); len(got) > 0 {
			t.Errorf("%s for good waits %v", reason, got)
		}
	}
	if d := retry.Step(1, retry.Ending{Reason: "vendor"}); d.Again {
		t.Errorf("a reason that is not known: %+v", d)
	}
	for _, attempt := range []int{-1, 0, 6, 7} {
		if d := retry.Step(attempt, retry.Ending{Reason: omni.Failed}); d.Again {
			t.Errorf("attempt %d: %+v", attempt, d)
		}
	}
}

func TestAProvidersWishIsALowerBoundUpToAMinute(t *testing.T) {
	for _, c := range []struct {
		attempt int
		asked   time.Duration
		want    retry.Decision
	}{
		{1, time.Second, retry.Decision{Again: true, Wait: 2 * time.Second}},
		{1, 3 * time.Second, retry.Decision{Again: true, Wait: 3 * time.Second}},
		{5, 3 * time.Second, retry.Decision{Again: true, Wait: 30 * time.Second}},
		{1, time.Minute, retry.Decision{Again: true, Wait: time.Minute}},
		{1, time.Minute + 1, retry.Decision{}},
	} {
		if got := retry.Step(c.attempt, retry.Ending{Reason: omni.Timeout, Asked: c.asked}); got != c.want {
			t.Errorf("attempt %d, asked for %s: %+v", c.attempt, c.asked, got)
		}
	}
}

func TestWhateverHappensASequenceIsShortAndPatient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var endings []retry.Ending
		waits := play(t, func(int) retry.Ending {
			e := retry.Ending{
				Reason:    rapid.SampledFrom(omni.StopReasons()).Draw(t, "reason"),
				Permanent: rapid.IntRange(0, 9).Draw(t, "permanent") == 0,
				Asked:     time.Duration(rapid.Int64Range(0, int64(2*time.Minute)).Draw(t, "asked")),
			}
			endings = append(endings, e)
			return e
		})
		if len(waits) > 5 {
			t.Fatalf("made again %d times", len(waits))
		}
		for i, wait := range waits {
			e := endings[i]
			if e.Reason == omni.Auth || e.Reason == omni.Completed || e.Reason == omni.Aborted || e.Permanent {
				t.Fatalf("made again after %+v", e)
			}
			if wait < e.Asked || wait < retry.Waits()[i] || wait > retry.MaxAsked {
				t.Fatalf("waits %s after %+v, which was attempt %d", wait, e, i+1)
			}
		}
	})
}

func TestRetryAfterIsReadInAllItsForms(t *testing.T) {
	now := time.Date(2026, 5, 22, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "0.5": 500 * time.Millisecond, "0": 0, "-3": 0, "soon": 0, "NaN": 0,
		"1e300": 24 * time.Hour, "+Inf": 24 * time.Hour,
		"Fri, 22 May 2026 12:00:20 GMT":  20 * time.Second,
		"Friday, 22-May-26 12:00:20 GMT": 20 * time.Second,
		"Fri May 22 12:00:20 2026":       20 * time.Second,
		"Fri, 22 May 2026 11:00:00 GMT":  0,
	} {
		if got := retry.After(value, now); got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
}

func FuzzAfter(f *testing.F) {
	f.Add("7")
	f.Add("Fri, 22 May 2026 12:00:20 GMT")
	f.Fuzz(func(t *testing.T, value string) {
		if got := retry.After(value, time.Unix(0, 0)); got < 0 {
			t.Errorf("%q: %s", value, got)
		}
	})
}
