package process

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLargeLinesAreReadOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, done := newLarge(), make(chan string, 2)
		line := strings.Repeat("x", keepBuffer+1) + "\nshort\n"
		first := turns.reader(strings.NewReader(line), nil)
		if l, err := first.Next(); err != nil || len(l.Text) != keepBuffer+1 {
			t.Fatalf("%d bytes, %v", len(l.Text), err)
		}
		go func() {
			second := turns.reader(strings.NewReader("short\n"+line), nil)
			for range 2 {
				l, _ := second.Next()
				done <- string(l.Text[:1])
			}
			_, _ = second.Next()
		}()
		synctest.Wait()
		if len(done) != 1 {
			t.Fatalf("%d lines of the second agent, want the short one", len(done))
		}
		begin := time.Now()
		if l, err := first.Next(); err != nil || string(l.Text) != "short" {
			t.Fatalf("%s, %v", l.Text, err)
		}
		synctest.Wait()
		if len(done) != 2 || time.Since(begin) > 0 {
			t.Errorf("%d lines of the second agent after %v", len(done), time.Since(begin))
		}
	})
}

func TestALargeLineThatStallsHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newLarge()
		turns.enter(nil)
		begin := time.Now()
		turns.enter(nil)()
		if waited := time.Since(begin); waited != patience {
			t.Errorf("waited %v", waited)
		}
		ended := make(chan struct{})
		close(ended)
		begin = time.Now()
		turns.enter(ended)()
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("an agent that has ended waited %v", waited)
		}
	})
}
