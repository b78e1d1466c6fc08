package account

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheKeyInUseIsToldAtTheStartAndAfterARotationUntilItIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keys.json")
		ring, err := OpenKeyring(path, discard)
		if err != nil {
			t.Fatal(err)
		}
		var told []KeyID
		ring.InUse = func(_ context.Context, key KeyID) error {
			told = append(told, key)
			if len(told) == 1 {
				return errors.New("not heard")
			}
			return nil
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- ring.Run(ctx) }()
		time.Sleep(5 * keyPoll) //nolint:forbidigo // time of the bubble
		first := ring.Current().Signing
		if err := RotateKeyFile(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * keyPoll) //nolint:forbidigo // time of the bubble
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if want := []KeyID{first, first, ring.Current().Signing}; !slices.Equal(told, want) || first == want[2] {
			t.Errorf("told %v, want %v", told, want)
		}
	})
}
