//go:build unix

package main

import (
	"syscall"
	"time"
)

// timed runs f and says how long that took.
func timed(f func(), times int) sample {
	wall, cpu := time.Now(), cpuTime()
	for range times {
		f()
	}
	return sample{Wall: time.Since(wall), CPU: cpuTime() - cpu, Times: times}
}

// cpuTime is the time that all threads of the process have had a processor.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constant
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
