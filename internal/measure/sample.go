// Package measure holds what benchmarks have in common: a clock, a processor to be bound to, what else the machine did,
// and medians.
package measure

import "time"

// Sample is one measurement.
type Sample struct {
	Wall     time.Duration `json:"wall_ns"` // of all times together
	CPU      time.Duration `json:"cpu_ns"`  // of all threads of the process
	Times    int           `json:"times"`
	Checksum float64       `json:"-"` // of the result, to be compared
}
