package main

import (
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// lid measures how long a device takes to be complete again after its process was stopped for a minute, as by a closed laptop lid, while
// a run went on. The device is a real `yard watch`.
func (b bench) lid(t *stage) []row {
	closed := time.Minute
	if b.quick {
		closed = 15 * time.Second
	}
	const perSecond = 100
	r := b.rig(t, func(r *rig.Rig) map[string]string {
		return map[string]string{"worker": r.TestAgent("--tools", "--rate", fmt.Sprint(perSecond), "--events", "1000000")}
	})
	home := filepath.Join(t.TempDir(), "yard")
	login := rig.StartReading(t, rig.Password+"\n", "yard login", []string{"YARD_HOME=" + home}, filepath.Join(b.bin, "yard"),
		"login", "--hub", r.HubURL(), "--user", rig.Username)
	if code := login.Wait(stopWithin); code != 0 {
		t.Fatalf("yard login ended with code %d", code)
	}
	var taken spread
	for range b.times(3, 1) {
		watch := rig.Start(t, "yard watch", []string{"YARD_HOME=" + home}, filepath.Join(b.bin, "yard"), "--json", "watch")
		watch.WaitFor(`"link":"up"`)
		d := r.Owner()
		run := d.Run(d.Group("demo "+uuid.NewString(), "worker"), "@worker go")
		watch.WaitFor(fmt.Sprintf("agent.stream %s/50", run))
		watch.Pause()
		t.wait(closed)
		head := d.Task(run).LastEventSeq
		start := time.Now()
		watch.Resume()
		watch.WaitFor(fmt.Sprintf("agent.stream %s/%d", run, head))
		taken = append(taken, time.Since(start))
		_, err := client.Decode[client.AgentTask](d.API().CancelAgentTask(t.Context(), string(run), client.CancelInput{}))
		t.must(err)
		watch.Signal(syscall.SIGINT)
		watch.Wait(stopWithin)
	}
	what := fmt.Sprintf("laptop lid closed for %d s during a run at %d events/s: complete again after waking (worst of %d)", int(closed.Seconds()), perSecond, len(taken))
	return []row{{what, "≤ 1 s", show(taken.at(1)), taken.at(1) <= time.Second}}
}
