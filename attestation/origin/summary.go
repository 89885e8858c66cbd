package origin

import (
	"fmt"

	"github.com/gram-compute/gram/proof"
)

// Summary is what provenance and report tell of a job's proof.
type Summary struct {
	Root     proof.Digest `json:"root"`
	Manifest proof.File   `json:"manifest"`
	Kept     string       `json:"kept"`
	Rounds   int          `json:"rounds"`
	Leaves   int64        `json:"leaves"` // of all rounds
	States   int          `json:"states"` // rounds of which the state is kept that they began with
	Says     string       `json:"says"`
}

// SummaryOf sums up a manifest, which is in a file.
func SummaryOf(m *proof.Manifest, file proof.File) *Summary {
	p := &Summary{Root: m.Root, Manifest: file, Kept: m.Kept, Rounds: len(m.Rounds)}
	for _, r := range m.Rounds {
		p.Leaves += r.Leaves
		if r.State {
			p.States++
		}
	}
	switch {
	case m.Kept == proof.Full:
		p.Says = "digests, states and partials of all rounds are kept"
	case m.Kept == proof.Digests:
		p.Says = "digests are kept, and no states, as spec.run.proof asks"
	case p.States < p.Rounds:
		p.Says = fmt.Sprintf("digests of all rounds are kept, and the states of the first %d of %d: "+
			"all states together are more than 1 %% of the input", p.States, p.Rounds)
	default:
		p.Says = "digests and states of all rounds are kept"
	}
	return p
}
