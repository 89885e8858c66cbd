package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/protocol"
)

// checkPrecomputed rejects what a given kernel does not take, and what no other takes.
func (p Params) checkPrecomputed() error {
	switch {
	case p.Clip && !p.Given():
		return protocol.SpecFault("clip is of kernel %s, not of %s", kernels.Precomputed, p.Kernel)
	case p.Given() && p.Features.Scale != features.ScaleNone:
		return protocol.SpecFault("features.scale is of vectors; with kernel %s the columns are kernel values, which stay "+
			"as they are", kernels.Precomputed).
			WithHint("Leave features.scale out, and scale the vectors before their kernel is computed.")
	case p.Given() && p.Features.Hashing != nil:
		return protocol.SpecFault("features.hashing is of texts; with kernel %s a record is its kernel values",
			kernels.Precomputed)
	}
	return nil
}
