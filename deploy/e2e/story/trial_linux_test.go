package story

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// lingers is an agent that says its process id and that of a child which no SIGTERM ends, and stays.
const lingers = `read -r turn
trap '' TERM
(while :; do sleep 1; done) &
trap - TERM
printf '{"type":"partial","text":"pids %s %s"}\n' $$ $!
wait`

func TestStopOfATrialEndsTheAgentAndEverythingItStarted(t *testing.T) {
	t.Parallel()
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			p := rig.Start(t, "edge-server bridge run", nil, filepath.Join(rig.Programs(t), "edge-server"),
				"bridge", "run", "--grace", "500ms", "hello", "--", "sh", "-c", lingers)
			p.WaitFor("pids")
			pids := regexp.MustCompile(`\d+`).FindAllString(p.Out().String(), -1)
			if len(pids) != 2 || !runs(pids[0]) || !runs(pids[1]) {
				t.Fatalf("the agent said %q", p.Out().String())
			}
			p.Signal(signal)
			if got := p.Wait(20 * time.Second); got != code {
				t.Errorf("exit code %d, want %d", got, code)
			}
			for _, pid := range pids {
				if runs(pid) {
					t.Errorf("process %s still runs", pid)
				}
			}
		})
	}
}

// runs says whether a process is there and more than an exit code that nobody has fetched yet.
func runs(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}
