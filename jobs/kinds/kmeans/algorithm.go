package kmeans

import "github.com/gram-compute/gram/protocol"

// The algorithms.
const (
	algorithmLloyd = "lloyd"
	algorithmSoft  = "soft"
)

var algorithmNames = []string{algorithmLloyd, algorithmSoft}

func (j job) soft() bool { return j.params.Algorithm == algorithmSoft }

// roundName names the phase whose rounds move the centers.
func (j job) roundName() string { return j.params.Algorithm }

// roundTitle names the algorithm in sentences.
func (j job) roundTitle() string {
	if j.soft() {
		return "soft k-means"
	}
	return "Lloyd's algorithm"
}

// objective names what a round reports, and what the best of several restarts has least of.
func (j job) objective() string { return objectiveOf(j.params.Algorithm) }

func objectiveOf(algorithm string) string {
	if algorithm == algorithmSoft {
		return "free_energy"
	}
	return "distortion"
}

// checkAlgorithm rejects parameters of another algorithm, and missing ones.
func (p *Params) checkAlgorithm() error {
	soft := p.Algorithm == algorithmSoft
	switch {
	case soft && p.Stiffness == 0:
		return protocol.SpecFault("algorithm soft needs stiffness, a number above 0").
			WithHint("Try 1 / (2 s^2), with s the standard deviation of a cluster in one column.")
	case !soft && p.Stiffness != 0:
		return protocol.SpecFault("stiffness needs algorithm soft, not %s", p.Algorithm)
	case !soft && p.Responsibilities:
		return protocol.SpecFault("responsibilities need algorithm soft, not %s", p.Algorithm)
	case soft && p.K > maxSoft:
		return protocol.SpecFault("a record may have a responsibility of every cluster: with algorithm soft, "+
			"k is at most %d, not %d", maxSoft, p.K)
	}
	return nil
}
