package sources

import (
	"math/rand/v2" // want `import of math/rand/v2`
	"time"
)

func draw() int { return rand.IntN(6) }

func now() time.Time { return time.Now() } // want `time.Now reads the clock`

func age(t time.Time) time.Duration { return time.Since(t) } // want `time.Since reads the clock`

func clock() func() time.Time { return time.Now } // want `time.Now reads the clock`

func zone(t time.Time) time.Time { return t.In(time.Local) } // want `time.Local is the machine's zone`

func later(t time.Time) time.Time { return t.Add(3 * time.Second) }
