package kernelmatrix

import (
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Params of a job of kind KernelMatrix.
type Params struct {
	kernels.Params
	Tile      int               `json:"tile"`
	PSDSample int               `json:"psd_sample"`
	MaxBytes  protocol.ByteSize `json:"max_bytes"`
	Features  features.Params   `json:"features"`
}

// Bounds of parameters.
const (
	defaultTile     = 2048
	maxTile         = 1 << 13
	maxSample       = 256
	defaultMaxBytes = 64 << 30
)

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return append(p.Declare(kernels.Linear),
		params.Whole("tile", &p.Tile, defaultTile, 1, maxTile).Says("Most rows, and most columns, of a file."),
		params.Whole("psd_sample", &p.PSDSample, maxSample, 0, maxSample).
			Says("Records drawn for the eigenvalues; 0 for none."),
		params.Bytes("max_bytes", &p.MaxBytes, defaultMaxBytes).
			Says("Most bytes of all tiles together. A larger matrix fails before any of it is computed."),
		p.Features.Section(),
	)
}

// Complete writes in the defaults of the kernel.
func (p *Params) Complete() { p.Params = p.WithDefaults() }
