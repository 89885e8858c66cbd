package run

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Hashes come in the order that slices.SortFunc gives them, however they are spread.
func TestSortHashes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, draw := range map[string]func(i int) idHash{
		"spread":          func(int) idHash { return idHash{r.Uint64(), r.Uint64()} },
		"in a range":      func(int) idHash { return idHash{1<<40 + r.Uint64N(1<<20), r.Uint64()} },
		"of a few values": func(int) idHash { return idHash{r.Uint64N(3), r.Uint64N(3)} },
		"equal":           func(int) idHash { return idHash{5, 7} },
		"by lower half":   func(int) idHash { return idHash{9, r.Uint64()} },
		"ends":            func(i int) idHash { return idHash{-uint64(i % 2), uint64(i)} },
		"ascending":       func(i int) idHash { return idHash{uint64(i), 0} },
		"descending":      func(i int) idHash { return idHash{-uint64(i), 0} },
	} {
		for _, n := range []int{0, 1, 2, 3, 15, 16, 17, 100, 1000, 5003} {
			hashes := make([]idHash, n)
			for i := range hashes {
				hashes[i] = draw(i)
			}
			want := slices.Clone(hashes)
			slices.SortFunc(want, idHash.compare)
			if sortHashes(hashes); !slices.Equal(hashes, want) {
				t.Fatalf("%d hashes, %s, are not in order", n, name)
			}
		}
	}
}

func BenchmarkSortHashes(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	drawn := make([]idHash, 31250)
	for i := range drawn {
		drawn[i] = idHash{r.Uint64(), r.Uint64()}
	}
	for name, sort := range map[string]func([]idHash){
		"parts": sortHashes, "slices": func(h []idHash) { slices.SortFunc(h, idHash.compare) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sort(slices.Clone(drawn))
			}
		})
	}
}
