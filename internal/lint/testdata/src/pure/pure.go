package pure

import (
	"log" // want `import of log`
	"maps"
	"os"   // want `import of os`
	"sync" // want `import of sync`
)

var counter int

var byName = map[string]int{}

type box struct{ n int }

var shared box

var guard sync.Mutex

func written() {
	counter++          // want `write to package variable counter`
	byName["a"] = 1    // want `write to package variable byName`
	shared.n = 2       // want `write to package variable shared`
	(*(&shared)).n = 3 // want `write to package variable shared`
}

func started(done func()) {
	go done() // want `goroutine`
}

func channels() {
	c := make(chan int, 1) // want `channel`
	c <- 1
}

func effects() {
	log.Print(os.Args)
	guard.Lock()
}

func local(in map[string]int) map[string]int {
	out := maps.Clone(in)
	out["a"] = 1
	counter := 0
	counter++
	b := &box{}
	b.n = counter
	return out
}
