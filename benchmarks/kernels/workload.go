package main

import (
	"github.com/gram-compute/gram/internal/limits"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/kernelops"
)

// workload is one task that contenders do on the same data.
type workload struct {
	id      string  // "operation/sizes", by which the peers know it too
	title   string  // for people
	unit    unit    // of the rate
	amount  float64 // of work in one run
	limits  limit   // what it is held to
	point   bool    // of the plot only
	short   bool    // no goal is about it: half the time
	serial  bool    // on one core only
	entrant func(e env) []contender
}

// env is what this process's contenders are made from.
type env struct {
	seed    uint64
	threads int
	sets    []*kernelops.Set // that enter
	memory  *limits.Memory   // of their data
}

// contender does the task of a workload in its own way.
type contender struct {
	name   string
	amount float64 // of work in one run; 0 means the workload's
	unit   unit    // "" means the workload's
	bound  bool    // a limit: its work is not the workload's and has no checksum
	run    func(times int) (measure.Sample, error)
}

// unit is what is counted, in a rate of 1e9 a second.
type unit string

const (
	gflops   unit = "GFLOP/s"
	gigabyte unit = "GB/s"
	gops     unit = "GOP/s" // of bytes
	nonzeros unit = "Gnz/s" // non-zeros of sparse rows
)

// local makes a contender of a function of this process. checksum runs untimed, after
// the runs, and may be nil for a limit.
func local(name string, run func(), checksum func() float64) contender {
	return contender{name: name, run: func(times int) (measure.Sample, error) {
		s := measure.Timed(run, times)
		if checksum != nil {
			s.Checksum = checksum()
		}
		return s, nil
	}}
}
