package state

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// lot is a number that nobody can tell who does not know the secret.
func lot(secret []byte, jobID, purpose string, numbers ...uint64) uint64 {
	mac := hmac.New(sha256.New, secret)
	for _, text := range []string{purpose, jobID} {
		mac.Write(binary.AppendUvarint(nil, uint64(len(text))))
		mac.Write([]byte(text))
	}
	for _, n := range numbers {
		mac.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	return binary.BigEndian.Uint64(mac.Sum(nil))
}

const million = 1_000_000

// drawNode decides, when a node is committed, whether it is audited: by its share, or because it holds the leaf that is
// drawn of the first round of each phase. The pieces are what was committed below it.
func (c completion) drawNode(made Commit, pieces []Commit) {
	j, open, audits := c.job, &c.job.Rounds.Open, &c.job.Audits
	if !audits.audited(c.secret, made.WorkerID) {
		return
	}
	number, shape := open.Number, open.Tree(made.Tree)
	drawn := lot(c.secret, j.ID, "node", uint64(number), uint64(made.Tree), uint64(made.Node.Level),
		uint64(made.Node.Index))%million < uint64(audits.PPM)
	first, end := shape.Range(made.Node)
	if last, closed := j.Rounds.lastClosed(); !drawn && (!closed || last.Phase != open.Phase) {
		at := lot(c.secret, j.ID, "phase", uint64(number)) % open.Leaves()
		for t := range made.Tree {
			at -= uint64(open.Trees[t]) // of an earlier tree: beyond every leaf
		}
		drawn = at >= uint64(first) && at < uint64(end) && !slices.ContainsFunc(pieces, func(p Commit) bool {
			from, to := shape.Range(p.Node)
			return at >= uint64(from) && at < uint64(to)
		})
	}
	if drawn {
		audits.Counts.Drawn++
		audits.Counts.Nodes++
		audits.put(c.auditOf(made, pieces))
	}
}

// auditOf has a node made again from what it was made from: its leaves, or the pieces committed below it. Where it was
// folded from others, of before, it is made from its leaves.
func (c completion) auditOf(made Commit, pieces []Commit) *Audit {
	open := &c.job.Rounds.Open
	own := c.opinion(false)
	own.Basis = c.madeFrom(pieces)
	switch own.Basis {
	case Basis(pieces):
		return open.auditOf(made, pieces, own)
	case Basis(nil):
		return open.auditOf(made, nil, own)
	}
	a := open.auditOf(made, nil, own)
	a.Opinions[0].Sum, a.Whole = c.opinion(true).Sum, true
	return a
}

// auditOf is an audit of a node of the round, with all that the node is made from.
func (r Round) auditOf(c Commit, pieces []Commit, own Opinion) *Audit {
	a := &Audit{
		Kind: pb.TaskKind_TASK_KIND_NODE, Round: r.Number, Tree: c.Tree, Node: c.Node, Phase: r.Phase,
		State: r.State, Base: r.Base, TreeLeaves: r.Trees[c.Tree], Pieces: pieces,
		Makers: c.Makers, Opinions: []Opinion{own},
	}
	shape := r.Tree(c.Tree)
	first, end := shape.Range(c.Node)
	left := end - first
	for _, p := range pieces {
		from, to := shape.Range(p.Node)
		left -= to - from
	}
	if left > 0 { // what is folded from pieces alone reads no carries, of which a large node has very many
		a.Carries = r.CarriesIn(c.Tree, first, end)
	}
	return a
}

// drawStep has the step of the round audited that is open still.
func (c completion) drawStep(makers uint64) {
	open, audits := &c.job.Rounds.Open, &c.job.Audits
	if !audits.audited(c.secret, c.workerID()) {
		return
	}
	own := c.opinion(false)
	own.Basis = c.madeFrom(nil)
	audits.Counts.Drawn++
	audits.put(&Audit{
		Kind: pb.TaskKind_TASK_KIND_STEP, Round: open.Number, Phase: open.Phase, State: open.State, Base: open.Base,
		Pieces: open.All(), Makers: makers, Opinions: []Opinion{own},
	})
}

// drawPlan has the plan audited.
func (c completion) drawPlan() {
	audits := &c.job.Audits
	if !audits.audited(c.secret, c.workerID()) {
		return
	}
	audits.Counts.Drawn++
	audits.put(&Audit{Kind: pb.TaskKind_TASK_KIND_PLAN, Makers: audits.bitOf(c.workerID()),
		Opinions: []Opinion{c.opinion(false)}})
}
