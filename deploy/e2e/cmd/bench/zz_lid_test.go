package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

func TestLidProbe(t *testing.T) {
	bin := os.Getenv("PROBE_BIN")
	if bin == "" {
		t.Skip()
	}
	r := rig.New(t, rig.Options{Bin: bin})
	r.AddEdge("laptop", map[string]string{"worker": r.TestAgent("--tools", "--rate", "100", "--events", "100000")})
	home := filepath.Join(t.TempDir(), "yard")
	rig.StartReading(t, rig.Password+"\n", "yard login", []string{"YARD_HOME=" + home}, filepath.Join(bin, "yard"), "login", "--hub", r.HubURL(), "--user", rig.Username).Wait(stopWithin)
	cmd := exec.Command(filepath.Join(bin, "yard"), "--json", "watch")
	cmd.Env = append(os.Environ(), "YARD_HOME="+home)
	out, _ := cmd.StdoutPipe()
	cmd.Start()
	defer cmd.Process.Kill()
	lines := make(chan string, 100000)
	at := make(chan time.Time, 100000)
	go func() {
		s := bufio.NewScanner(out)
		s.Buffer(nil, 8<<20)
		for s.Scan() {
			lines <- s.Text()
			at <- time.Now()
		}
	}()
	for l := range lines {
		<-at
		if strings.Contains(l, `"link":"up"`) {
			break
		}
	}
	d := r.Owner()
	run := d.Run(d.Group("demo", "worker"), "@worker go")
	time.Sleep(time.Second)
	cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(60 * time.Second)
	head := d.Task(run).LastEventSeq
	for len(lines) > 0 {
		<-lines
		<-at
	}
	start := time.Now()
	cmd.Process.Signal(syscall.SIGCONT)
	n := 0
	bytes := 0
	for l := range lines {
		w := <-at
		n++
		bytes += len(l)
		if strings.Contains(l, `"link"`) {
			fmt.Println(w.Sub(start), "lines", n, "bytes", bytes, l[:min(len(l), 200)])
		}
		if n%1000 == 0 {
			fmt.Println(w.Sub(start), "lines", n, "bytes", bytes)
		}
		if strings.Contains(l, fmt.Sprintf("agent.stream %s/%d", run, head)) || strings.Contains(l, fmt.Sprintf(`"event_seq":%d,`, head)) {
			fmt.Println(w.Sub(start), "complete; lines", n, "bytes", bytes, "head", head)
			break
		}
	}
}
