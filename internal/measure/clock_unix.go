//go:build unix

package measure

import (
	"syscall"
	"time"
)

// Timed runs f times times and says how long that took.
func Timed(f func(), times int) Sample {
	wall, cpu := time.Now(), CPUTime()
	for range times {
		f()
	}
	return Sample{Wall: time.Since(wall), CPU: CPUTime() - cpu, Times: times}
}

// CPUTime is the time that all threads of the process have had a processor.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constant
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
