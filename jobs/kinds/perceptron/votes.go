package perceptron

import (
	"cmp"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// dropped counts the vectors that no longer vote, and the votes that they had.
type dropped struct{ vectors, votes int64 }

// retire keeps the weights for their vote before they change. Weights that came through no step, as the first zeros do,
// have none.
func (l *Learner) retire() {
	last := len(l.survived) - 1
	if last < 0 || l.survived[last] == 0 {
		return
	}
	l.vectors = append(l.vectors, l.weights...)
	l.survived = append(l.survived, 0)
	if l.votes() >= l.MaxVectors+l.MaxVectors/4+64 { // seldom: it sorts and moves them
		l.trim(l.MaxVectors)
	}
}

// votes is the number of vectors kept.
func (l *Learner) votes() int { return len(l.vectors) / l.size() }

// trim leaves at most that number of vectors: those with the most votes, and of those with equally many the later ones.
// When it is done does not matter, for the first of all are among the first of any part. It works in place.
func (l *Learner) trim(most int) {
	n, size := l.votes(), l.size()
	if n <= most {
		return
	}
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	// total order: numbers differ
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(l.voice(j), l.voice(i)), cmp.Compare(j, i)) })
	slices.Sort(order[:most])
	for _, k := range order[most:] {
		l.dropped.vectors++
		l.dropped.votes += l.voice(k)
	}
	for to, k := range order[:most] {
		copy(l.vectors[to*size:(to+1)*size], l.vectors[k*size:(k+1)*size])
		l.survived[to] = l.survived[k]
	}
	l.survived[most] = l.survived[n]
	l.vectors, l.survived = l.vectors[:most*size], l.survived[:most+1]
}

// voice is how many votes vector k has.
func (l *Learner) voice(k int) int64 {
	if l.Form == Unweighted {
		return min(1, l.survived[k])
	}
	return l.survived[k]
}

// beginVotes leaves only the last of the vectors that vote to the learner, so that a partial holds what is new, of
// which it keeps that number at most.
func (l *Learner) beginVotes(most int) {
	if l.survived != nil {
		l.vectors, l.survived, l.dropped = nil, l.survived[len(l.survived)-1:], dropped{}
	}
	l.MaxVectors = most
}

// joinVotes puts the vectors of before in front of those that it has since.
func (l *Learner) joinVotes(before *Learner, most int) {
	if l.survived == nil {
		return
	}
	l.vectors = slices.Concat(before.vectors, l.vectors)
	l.survived = slices.Concat(before.survived[:len(before.survived)-1], l.survived)
	l.dropped.vectors += before.dropped.vectors
	l.dropped.votes += before.dropped.votes
	l.trim(most)
}

// leastState is a row of weights, a float32 for each column that the spec tells of, as often as the form keeps it.
func leastState(spec protocol.JobSpec) int64 {
	p, err := params.Parse[Params](spec.Spec.Params)
	if err != nil || spec.Spec.Model != "" {
		return 0
	}
	columns := p.Features.LeastWidth(spec.Spec.Input)
	if columns < 1 {
		return 0
	}
	return 4 * (columns + 1) * p.form().copies() // at most 2^31 columns
}

// copies is how often a form keeps the weights at least, in float32.
func (f Form) copies() int64 {
	switch {
	case f == Averaged:
		return 3 // the sums are float64
	case f.votes():
		return 2 // the last weights, and one vector that votes beside them
	}
	return 1
}

// room is how many vectors that vote a state has room for beside the rest of it, max_vectors at most. It is told
// before the first epoch, so that none of them is too many after hours of work; 0 is a fault of CodeStateTooBig.
func (j job) room(s *state) (int64, error) {
	if !s.Form.votes() || j.MaxState == 0 {
		return int64(s.MaxVectors), nil
	}
	const growth = 4096 // of what tells arrays apart
	each := 4*int64(s.size()) + 8
	bare := *s.model
	last := *s.Learner
	last.vectors, last.survived = nil, []int64{0}
	bare.Learner = &last
	rest := jobs.ArraysOf(&state{model: &bare}).EncodedSize() + growth + 16*int64(j.Params.Epochs) + 8*int64(s.Classes)
	if most := (j.MaxState - rest) / each; most >= 1 && j.MaxState > rest {
		return min(most, int64(s.MaxVectors)), nil
	}
	return 0, protocol.InputFault(protocol.CodeStateTooBig,
		"form %s keeps vectors of %d bytes, one for each mistake; beside the rest of the state, %d bytes, "+
			"max_state_bytes, %d, has no room for one",
		s.Form, each, rest, j.MaxState).
		WithHint("Raise run.max_state_bytes, make the vectors narrower (for text: max_features, min_df), or use " +
			"form averaged.")
}

// Fields lists the counts, where something was dropped.
func (d *dropped) Fields(f *jobs.Fields) {
	if !f.Has("dropped", d.vectors > 0) {
		if f.Reading() {
			*d = dropped{}
		}
		return
	}
	jobs.Tuple(f, "dropped", &d.vectors, &d.votes)
	f.Require(d.vectors > 0 && jobs.Exact([]int64{d.vectors, d.votes}, 0),
		"a perceptron that dropped %d vectors of %d votes", d.vectors, d.votes)
}
