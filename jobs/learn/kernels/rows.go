package kernels

import (
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/kernelops"
)

// Beyond is the fault of a record that has a kernel value beyond float32.
func Beyond(id dataset.Identity, k kernelops.Kernel) error {
	return id.Fault("a kernel value of the record is beyond the range of float32 (%s)", Text(k)).
		WithHint("Scale the columns (features.scale standard, minmax or l2), or choose a smaller scale or degree.")
}
