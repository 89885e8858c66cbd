package schedule_test

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// The carries of a lease take a thirty-second part of a worker's memory. The first lease of a phase covers one leaf,
// unless the phase is that of the job's first round; later ones go by what that leaf carries, and in the next round by
// what was kept. A worker that has not told its memory, and leaves that carry nothing, are leased by their time alone.
func TestALeaseGoesByItsCarries(t *testing.T) {
	doubling := []protocol.Node{node(0, 1), node(1, 1), node(2, 1), node(3, 1)}
	for name, c := range map[string]struct {
		memory, carried int64
		first           protocol.Node   // of the second round
		then            []protocol.Node // behind it
		next            protocol.Node   // of the third round
	}{
		"small":    {32 << 20, 1, node(0, 0), doubling, node(4, 0)},
		"nothing":  {32 << 20, 0, node(0, 0), doubling, node(4, 0)},
		"four":     {32 << 20, 1 << 18, node(0, 0), append(doubling[:3:3], node(2, 2)), node(2, 0)},
		"three":    {32 << 20, 1<<18 + 1, node(0, 0), append(doubling[:2:2], node(1, 2), node(1, 3)), node(1, 0)},
		"beyond":   {32 << 20, 1 << 30, node(0, 0), []protocol.Node{node(0, 1), node(0, 2)}, node(0, 0)},
		"not told": {0, 1 << 30, node(4, 0), []protocol.Node{node(3, 2)}, node(4, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 1, 64)
			d.board.Register(d.view, schedule.Worker{ID: "w", Slots: 1, Memory: c.memory}, nil, d.now)
			d.wantNodes("w", 1, node(4, 0))
			d.commit(node(6, 0))
			d.nextRound("other", 64)
			first := d.wantNodes("w", 1, c.first)[0].Task
			d.now += time.Second
			leaves := int64(1) << first.Node.Level
			d.carry(first, leaves*c.carried)
			d.wantNodes("w", len(c.then), c.then...)
			first.Node = node(6, 0)
			d.carry(first, 64*c.carried)
			d.nextRound("other", 64)
			d.wantNodes("w", 1, c.next)
		})
	}
}

// carry commits a node whose leaves carry some bytes together.
func (d *desk) carry(task schedule.Task, bytes int64) {
	d.Helper()
	done := nodeDone(task)
	if bytes > 0 {
		done.Output.Carry = ref(uint64(task.Node.Level))
		done.Output.Carry.Size = bytes
	}
	next, reply := state.Apply(d.view, completions(done))
	if reply.Verdicts[0] != pb.Verdict_VERDICT_ACCEPTED {
		d.Fatalf("%v: verdict %v", task, reply.Verdicts[0])
	}
	d.view = next
	d.board.Done(jobOf(d.view, "a"), task, "w", true, d.now)
}
