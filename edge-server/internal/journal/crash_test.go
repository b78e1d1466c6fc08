package journal_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// victimHome in the environment makes the test binary append to that journal until it is killed.
const victimHome = "JOURNAL_TEST_VICTIM_HOME"

const crashes = 20

// Whatever the moment of death: what was promised is there, nothing is torn or twice, and the next process continues behind it.
func TestKilledWriterLosesNothingThatItPromised(t *testing.T) {
	home := t.TempDir()
	before := 0
	for crash := range crashes {
		promised := killedAfter(t, home, 1+2*crash)
		j := open(t, options(home))
		if err := j.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		found := rows(t, j.Journal, 1)
		if len(found) < promised {
			t.Fatalf("crash %d: %d rows, %d were promised", crash, len(found), promised)
		}
		for i, e := range found {
			if want := fmt.Sprintf(`{"state":"%d"}`, i+1); string(e.Payload) != want {
				t.Fatalf("crash %d: row %d is %s", crash, i+1, e.Payload)
			}
		}
		if len(found) <= before {
			t.Fatalf("crash %d: nothing new was written", crash)
		}
		before = len(found)
		if err := j.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// killedAfter lets a child append and kills it without warning once it has promised n more rows. It returns the highest promised number.
func killedAfter(t *testing.T, home string, n int) (promised int) {
	t.Helper()
	child := exec.Command(os.Args[0]) //nolint:noctx // it is killed below
	child.Env = append(os.Environ(), victimHome+"="+home)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		number, err := strconv.Atoi(lines.Text())
		if err != nil {
			break // the line was cut by the kill
		}
		promised = number
		if n--; n == 0 {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return promised
}

// appendForEver writes numbered rows, sometimes several without waiting, and prints a number once its row is promised to be on disk.
func appendForEver(home string) {
	ctx := context.Background()
	j, err := journal.Open(ctx, options(home))
	if err != nil {
		panic(err)
	}
	parts := supervise.NewGroup(ctx)
	parts.Go(j.Run)
	r := id.NewRun()
	for n := int(j.State().Head) + 1; ; n++ {
		write := j.Append
		if n%3 == 0 {
			write = j.Commit
		}
		if err := write(ctx, origin(r), numbered(n)); err != nil {
			panic(err)
		}
		if n%3 == 0 {
			os.Stdout.WriteString(strconv.Itoa(n) + "\n") //nolint:errcheck // the parent will miss it
		}
	}
}

func numbered(n int) run.Candidate { return state(strconv.Itoa(n)) }
