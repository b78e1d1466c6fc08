package localapi_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
)

func TestTheHomeOfAnEdgeSaysWhereItListens(t *testing.T) {
	home := t.TempDir()
	for _, want := range []string{"127.0.0.1:3210", "127.0.0.1:40001", "127.0.0.1:40002"} {
		if want != "127.0.0.1:3210" {
			if err := localapi.NoteAddress(home, want); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := localapi.Address(home, "127.0.0.1:3210"); got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}
