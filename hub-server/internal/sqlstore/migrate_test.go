package sqlstore

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

func TestAStoreIsMigratedOnceAndOnlyLookedAtByACheck(t *testing.T) {
	eachEmpty(t, func(t *testing.T, address string) {
		if found, err := SchemaOf(t.Context(), address); found.Have != 0 || (err != nil && !errors.Is(err, os.ErrNotExist)) {
			t.Fatalf("nothing is there, and it has schema %+v, %v", found, err)
		}
		before, err := Migrate(t.Context(), address)
		if err != nil || before.Have != 0 || before.Want < 7 {
			t.Fatalf("migrated from %+v, %v", before, err)
		}
		if found, err := SchemaOf(t.Context(), address); err != nil || found.Have != before.Want || found.Want != before.Want {
			t.Errorf("schema is %+v, %v", found, err)
		}
		if again, err := Migrate(t.Context(), address); err != nil || again.Have != again.Want {
			t.Errorf("the second time it had schema %+v, %v", again, err)
		}
	})
}

func TestAStoreOfAnOlderSchemaIsNotBackedUp(t *testing.T) {
	eachEmpty(t, func(t *testing.T, address string) {
		s, err := openBare(address)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.provider()
		if err == nil {
			_, err = p.UpTo(t.Context(), 5)
		}
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := Backup(t.Context(), address, &out); !errors.Is(err, ErrSchemaOld) || out.Len() > 0 {
			t.Errorf("got %v and %d bytes, want ErrSchemaOld", err, out.Len())
		}
	})
}
