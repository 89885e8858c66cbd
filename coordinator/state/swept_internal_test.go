package state

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// checkSwept compares j with a plain map, by all of its methods, and its chunks with what they say of themselves.
func checkSwept(t failer, j sweptJobs, want map[string]Retired) {
	t.Helper()
	ids := slices.Sorted(maps.Keys(want))
	var got []string
	j.each(func(r Retired) bool {
		if r != want[r.ID] {
			t.Fatalf("visited %+v, want %+v", r, want[r.ID])
		}
		got = append(got, r.ID)
		return true
	})
	if !slices.Equal(got, ids) || j.count != len(ids) {
		t.Fatalf("%d entries: visited %q, want %q", j.count, got, ids)
	}
	for _, id := range ids {
		if r, ok := j.get(id); !ok || r != want[id] {
			t.Fatalf("%q is %+v, %t; want %+v", id, r, ok, want[id])
		}
	}
	j.chunks.Root().Walk(func(key []byte, c sweptChunk) bool {
		same := newSweptChunk(c.packed)
		if c.count < 1 || c.count > chunkMost || c.count != same.count || c.oldest != same.oldest ||
			!bytes.Equal(c.last, same.last) || !bytes.Equal(key, c.last) {
			t.Fatalf("chunk %q of %d entries to %q, oldest %d; found %d to %q, oldest %d",
				key, c.count, c.last, c.oldest, same.count, same.last, same.oldest)
		}
		return false
	})
}

// Four entries by hand: replaced, missed, removed; and what was before stays as it was.
func TestSweptJobsByHand(t *testing.T) {
	entry := func(id string, number uint64, at int64, own bool) Retired {
		return Retired{ID: id, Number: number, RetiredAt: at, OwnOutput: own, Swept: true}
	}
	none := newSweptJobs()
	checkSwept(t, none, nil)
	b, ab, a := entry("b", 2, 20, true), entry("ab", 1<<63, math.MinInt64, false), entry("a", 0, math.MaxInt64, true)
	three := none.put(b).put(ab).put(a)
	checkSwept(t, three, map[string]Retired{"a": a, "ab": ab, "b": b})
	for _, id := range []string{"", "aa", "abc", "b0", "zz"} {
		if r, ok := three.get(id); ok {
			t.Errorf("%q is %+v", id, r)
		}
		checkSwept(t, three.remove(id), map[string]Retired{"a": a, "ab": ab, "b": b})
	}
	later := entry("ab", 7, 70, true)
	checkSwept(t, three.put(later), map[string]Retired{"a": a, "ab": later, "b": b})
	checkSwept(t, three.remove("b"), map[string]Retired{"a": a, "ab": ab})
	checkSwept(t, three.remove("a").remove("b").remove("ab"), nil)
	checkSwept(t, three, map[string]Retired{"a": a, "ab": ab, "b": b})
	checkSwept(t, none, nil)
}

// Whatever is put and removed, alone or in runs that fill and empty chunks: the entries are those of a plain map, and
// earlier values stay what they were.
func TestSweptJobsAreAMap(t *testing.T) {
	type kept struct {
		jobs  sweptJobs
		model map[string]Retired
	}
	rapid.Check(t, func(t *rapid.T) {
		now := kept{newSweptJobs(), map[string]Retired{}}
		olds := []kept{now}
		for range rapid.IntRange(1, 12).Draw(t, "runs") {
			now.model = maps.Clone(now.model)
			first := rapid.IntRange(0, 1500).Draw(t, "first")
			step := rapid.SampledFrom([]int{-7, -1, 1, 3}).Draw(t, "step")
			put, at := rapid.Bool().Draw(t, "put"), rapid.Int64Range(-2, 900).Draw(t, "at")
			for i := range rapid.SampledFrom([]int{1, 30, 400}).Draw(t, "length") {
				id := strconv.FormatInt(int64(first+i*step)&0x7ff, 3) // of 1 to 7 digits: ids begin with others
				r := Retired{ID: id, Number: uint64(i), RetiredAt: at + int64(i), OwnOutput: i%2 == 0, Swept: true}
				if put {
					now.jobs, now.model[id] = now.jobs.put(r), r
				} else {
					now.jobs = now.jobs.remove(id)
					delete(now.model, id)
				}
			}
			checkSwept(t, now.jobs, now.model)
			checkBefore(t, now.jobs, now.model, rapid.Int64Range(-3, 1400).Draw(t, "before"))
			olds = append(olds, now)
		}
		for _, old := range olds {
			checkSwept(t, old.jobs, old.model)
		}
	})
}

// checkBefore: eachBefore finds the entries before a time in order, and stops when it is told to.
func checkBefore(t *rapid.T, j sweptJobs, model map[string]Retired, at int64) {
	var want, got []string
	for _, id := range slices.Sorted(maps.Keys(model)) {
		if model[id].RetiredAt < at && len(want) < 100 {
			want = append(want, id)
		}
	}
	j.eachBefore(at, func(r Retired) bool {
		got = append(got, r.ID)
		return len(got) < 100
	})
	if !slices.Equal(got, want) {
		t.Fatalf("before %d: %q, want %q", at, got, want)
	}
}

// Most entries are forgotten, in any order: those that stay do not lie in a chunk each.
func TestSweptJobsJoinTheirChunks(t *testing.T) {
	const n, every = 4_000, 100
	full := newSweptJobs()
	for i := range n {
		full = full.put(Retired{ID: fmt.Sprintf("j%05d", i), Swept: true})
	}
	ascending := make([]int, n)
	for i := range ascending {
		ascending[i] = i
	}
	descending := slices.Clone(ascending)
	slices.Reverse(descending)
	for name, order := range map[string][]int{
		"ascending": ascending, "descending": descending, "shuffled": rand.New(rand.NewPCG(1, 2)).Perm(n),
	} {
		j := full
		for _, i := range order {
			if i%every != 0 {
				j = j.remove(fmt.Sprintf("j%05d", i))
			}
		}
		if most := 4*n/every/chunkMost + 4; j.count != n/every || j.chunks.Len() > most {
			t.Errorf("%s: %d entries in %d chunks, want %d in at most %d", name, j.count, j.chunks.Len(), n/every, most)
		}
	}
}

// A chunk holds chunkMost entries, and one more makes two of it. Neighbors are joined that have half as many together.
func TestSweptJobsDivideAndJoinAtTheirBounds(t *testing.T) {
	of := func(from, to int) (all []Retired) {
		for i := from; i < to; i++ {
			all = append(all, Retired{ID: fmt.Sprintf("j%05d", i), Swept: true})
		}
		return all
	}
	j := newSweptJobs()
	for _, r := range of(0, chunkMost) {
		j = j.put(r)
	}
	if n := j.chunks.Len(); n != 1 {
		t.Errorf("%d entries are in %d chunks", chunkMost, n)
	}
	if n := j.put(of(chunkMost, chunkMost+1)[0]).chunks.Len(); n != 2 {
		t.Errorf("%d entries are in %d chunks", chunkMost+1, n)
	}
	const half, middle = chunkMost / 2, chunkMost / 4
	for name, removed := range map[string]int{"the one before": middle, "the one after": 0} {
		for together, want := range map[int]int{half: 1, half + 1: 2} {
			txn := newSweptJobs().chunks.Txn()
			rest := together + 1
			for _, part := range [][]Retired{of(0, middle), of(middle, rest)} {
				packed := []byte(nil)
				for _, r := range part {
					packed = packSwept(packed, r)
				}
				insertChunk(txn, newSweptChunk(packed))
			}
			j := sweptJobs{txn.Commit(), rest}.remove(fmt.Sprintf("j%05d", removed))
			if n := j.chunks.Len(); n != want || j.count != together {
				t.Errorf("%s, %d entries together: %d chunks of %d entries, want %d", name, together, n, j.count, want)
			}
		}
	}
}

// Two states with the same retired jobs, swept or not, encode to the same bytes whatever became of them before.
func TestRetiredJobsHaveOneEncoding(t *testing.T) {
	const n = 1000
	record := func(i int) Retired {
		id := strconv.Itoa(i)
		return Retired{ID: id, Number: uint64(i), RetiredAt: int64(i), OwnOutput: i%3 == 0, Swept: i%5 != 0}
	}
	plain, other := New(), New()
	for i := range n {
		plain.Retired = plain.Retired.put(record(i))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, i := range random.Perm(2 * n) {
		r := record(i)
		r.Swept, r.RetiredAt = i%2 == 0, 7
		other.Retired = other.Retired.put(r)
	}
	for _, i := range random.Perm(2 * n) {
		if i < n {
			other.Retired = other.Retired.put(record(i))
		} else {
			other.Retired.unswept, _, _ = other.Retired.unswept.Delete([]byte(strconv.Itoa(i)))
			other.Retired.swept = other.Retired.swept.remove(strconv.Itoa(i))
		}
	}
	if plain.Retired.Count() != n || other.Retired.Count() != n || plain.Digest() != other.Digest() {
		t.Errorf("%d and %d retired jobs, want %d of one digest: %x and %x",
			plain.Retired.Count(), other.Retired.Count(), n, plain.Digest(), other.Digest())
	}
}

// LiveHeap is what the heap holds that is in use.
func LiveHeap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // the first may leave what has a cleanup
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// A month's turnover: as many are forgotten as are added. Nothing is kept of the chunks that were.
func TestSweptJobsKeepNoOldChunks(t *testing.T) {
	const n, most = 4_000, 100
	id := func(i int) string { return fmt.Sprintf("%016x", uint64(i)*0x9e3779b97f4a7c15) }
	j, before := newSweptJobs(), LiveHeap()
	for i := range 5 * n {
		j = j.put(Retired{ID: id(i), Number: uint64(i), RetiredAt: 1 << 40, Swept: true})
		if i >= n {
			j = j.remove(id(i - n))
		}
	}
	if each := (LiveHeap() - before) / n; j.count != n || each > most {
		t.Errorf("%d entries of %d bytes each, want %d of at most %d", j.count, each, n, most)
	}
	runtime.KeepAlive(j)
}
