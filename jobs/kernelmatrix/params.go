package kernelmatrix

import (
	"encoding/json"

	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/protocol"
)

// Params of a job of kind KernelMatrix.
type Params struct {
	kernels.Params
	// Tile is the most rows, and the most columns, of a file.
	Tile int `json:"tile"`
	// PSDSample is how many records are drawn for the eigenvalues, at most 256; 0 for none.
	PSDSample int `json:"psd_sample"`
	// MaxBytes bounds the size of all tiles together, as they are written; a larger matrix is an INPUT_LIMIT
	// fault before any of it is computed.
	MaxBytes protocol.ByteSize `json:"max_bytes"`
	Features features.Params   `json:"features"`
}

// Bounds of parameters.
const (
	defaultTile     = 2048
	maxTile         = 1 << 13
	maxSample       = 256
	defaultMaxBytes = 64 << 30
)

// DefaultParams are those of the linear kernel.
func DefaultParams() Params {
	return Params{Params: kernels.Params{Kernel: kernels.Linear}, Tile: defaultTile, PSDSample: maxSample,
		MaxBytes: defaultMaxBytes, Features: features.DefaultParams()}
}

// Defaults returns params with every default written in; a *protocol.Fault of
// CodeSpecInvalid says what is wrong with them.
func Defaults(params json.RawMessage) (json.RawMessage, error) {
	p, err := parseParams(params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

func parseParams(params json.RawMessage) (Params, error) {
	p := DefaultParams()
	if err := validate.Decode(params, &p); err != nil {
		return Params{}, err
	}
	if err := p.check(); err != nil {
		return Params{}, validate.In("spec.params", err)
	}
	p.Params = p.WithDefaults()
	return p, validate.In("spec.params.features", p.Features.Check())
}

func (p Params) check() error {
	switch {
	case p.Tile < 1 || p.Tile > maxTile:
		return protocol.SpecFault("tile is from 1 to %d, not %d", maxTile, p.Tile)
	case p.PSDSample < 0 || p.PSDSample > maxSample:
		return protocol.SpecFault("psd_sample is from 0 to %d, not %d", maxSample, p.PSDSample)
	case p.MaxBytes < 1:
		return protocol.SpecFault("max_bytes is above 0, not %d", p.MaxBytes)
	}
	return p.Params.Check()
}
