package main

import (
	"sync"

	"github.com/gram-compute/gram/kernelops"
)

// onThreads runs f(0) to f(n-1) at once and waits for them.
func onThreads(n int, f func(t int)) {
	if n == 1 {
		f(0)
		return
	}
	var all sync.WaitGroup
	for t := range n {
		all.Go(func() { f(t) })
	}
	all.Wait()
}

// each makes a contender of every set that enters.
func each(e env, entrant func(s *kernelops.Set, ws *kernelops.Workspace) (run func(),
	checksum func() float64)) []contender {
	var all []contender
	for _, s := range e.sets {
		run, checksum := entrant(s, &kernelops.Workspace{Threads: e.threads})
		all = append(all, local("gram "+s.Name, run, checksum))
	}
	return all
}
