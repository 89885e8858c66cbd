package kmeans

import (
	"cmp"

	"github.com/gram-compute/gram/protocol"
)

// The algorithms.
const (
	algorithmLloyd = "lloyd"
	algorithmSoft  = "soft"
	algorithmBatch = "minibatch"

	algorithmBisecting = "bisecting"
)

// What the cluster that is split next has most of.
const (
	splitDistortion = "distortion"
	splitSize       = "size"
)

var algorithmNames = []string{algorithmLloyd, algorithmSoft, algorithmBatch, algorithmBisecting}

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
	switch algorithm {
	case algorithmSoft:
		return "free_energy"
	case algorithmBatch:
		return "batch_distortion"
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
	return cmp.Or(p.checkBatch(), p.checkBisecting())
}

// checkBisecting rejects what algorithm bisecting does not do.
func (p *Params) checkBisecting() error {
	switch {
	case p.Algorithm != algorithmBisecting && p.Split != "":
		return protocol.SpecFault("split needs algorithm bisecting, not %s", p.Algorithm)
	case p.Algorithm != algorithmBisecting:
		return nil
	case p.Init == initGiven:
		return protocol.SpecFault("algorithm bisecting begins with one cluster of all records; init is not given")
	case p.K < 2 || p.K > maxBisecting:
		return protocol.SpecFault("with algorithm bisecting, k is from 2 to %d, not %d", maxBisecting, p.K)
	case p.Restarts > 1:
		return protocol.SpecFault("with algorithm bisecting, restarts is 1, not %d", p.Restarts)
	case p.Empty == emptyDrop || p.Empty == emptyError:
		return protocol.SpecFault("2-means leaves no cluster without records; with algorithm bisecting, empty is "+
			"farthest or keep, which change nothing, not %s", p.Empty)
	}
	return nil
}

// checkBatch rejects what algorithm minibatch does not do.
func (p *Params) checkBatch() error {
	switch {
	case p.Algorithm != algorithmBatch && p.BatchSize != nil:
		return protocol.SpecFault("batch_size needs algorithm minibatch, not %s", p.Algorithm)
	case p.Algorithm != algorithmBatch:
		return nil
	case p.BatchSize != nil && (*p.BatchSize < 1 || *p.BatchSize > maxBatch):
		return protocol.SpecFault("batch_size is from 1 to %d, not %d", maxBatch, *p.BatchSize)
	case p.Tol != 0:
		return protocol.SpecFault("algorithm minibatch ends after max_rounds; tol is 0, not %v", p.Tol)
	case p.Restarts > 1:
		return protocol.SpecFault("restarts would be judged by batches that differ; with algorithm minibatch, "+
			"restarts is 1, not %d", p.Restarts)
	case p.Empty == emptyDrop || p.Empty == emptyError:
		return protocol.SpecFault("a batch may have no record of a cluster; with algorithm minibatch, empty is "+
			"farthest or keep, which change nothing, not %s", p.Empty)
	}
	return nil
}
