package dataset

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// allocationBound is what reading one hostile object may allocate in all, freed or
// not: far below the 100 MB that some of them hold or decode to.
func allocationBound(in protocol.Input) uint64 { return 4<<20 + 3*uint64(in.MaxRecordBytes) }

func hostileStore(t *testing.T, c datasettest.Case) *datasettest.Store {
	t.Helper()
	store := &datasettest.Store{Seed: 1}
	if _, err := store.PutContent(c.Key, c.Content); err != nil {
		t.Fatal(err)
	}
	return store
}

// count reads without keeping anything, and says how much was allocated meanwhile.
func count(t *testing.T, s *Source, shards []Shard) (records, skipped int, allocated uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, shard := range shards {
		for b, blockErr := range s.Blocks(t.Context(), shard) {
			if err = blockErr; err != nil {
				break
			}
			records += len(b.IDs)
			skipped += len(b.Skipped)
		}
		if err != nil {
			break
		}
	}
	runtime.ReadMemStats(&after)
	return records, skipped, after.TotalAlloc - before.TotalAlloc, err
}

// Every mutation, twenty seeds: refused with object and position, or read; no panic, and
// no more memory than the bound. The first seed is the huge one.
func TestHostileInput(t *testing.T) {
	for seed := range uint64(20) {
		huge := int64(2 << 20)
		if seed == 0 {
			huge = 100 << 20
		}
		for _, c := range datasettest.Hostile(seed, huge) {
			in := testInput()
			in.Text.Number, in.ShardBytes = 3, 256<<20
			s, shards, err := open(hostileStore(t, c), in)
			if err != nil {
				t.Fatal(err)
			}
			records, _, allocated, err := count(t, s, shards)
			if problem := c.Check(records, err); problem != nil {
				t.Error(problem)
			}
			if bound := allocationBound(in); allocated > bound {
				t.Errorf("%s: %d bytes allocated, at most %d are allowed", c.Key, allocated, bound)
			}
		}
	}
}

// With every bad record allowed, plain text is always read to its end, in shards of any
// size, and the records that were good are all there. Damaged gzip still is a fault.
func TestHostileInputSkipped(t *testing.T) {
	for seed := range uint64(20) {
		for _, c := range datasettest.Hostile(seed, 2<<20) {
			in := testInput()
			in.Text.Number, in.ShardBytes = 3, protocol.ByteSize(1)<<(8+seed)
			in.OnBadRecord.SkipMax = math.MaxInt64
			s, shards, err := open(hostileStore(t, c), in)
			if err != nil {
				t.Fatal(err)
			}
			records, skipped, _, err := count(t, s, shards)
			if err == nil && c.Records >= 0 && (records != c.Records || (skipped == 0) == (len(c.Codes) > 0)) {
				t.Errorf("%s: %d records and %d skipped, want %d records", c.Key, records, skipped, c.Records)
			}
			if compressed, _ := isGzip(c.Key, "auto"); err != nil && !compressed || err == nil && compressed &&
				!c.Readable {
				t.Errorf("%s: %v", c.Key, err)
			}
		}
	}
}

// A shard's buffer is as long as its longest piece, from 4 KiB to 256 KiB.
func TestBufferOfAShard(t *testing.T) {
	s := &Source{buffer: bufferBytes}
	for length, want := range map[int64]int{
		1: 4 << 10, 4 << 10: 4 << 10, 9000: 9000, bufferBytes: bufferBytes, 1 << 40: bufferBytes,
	} {
		pieces := []Piece{{Start: 5, End: 6}, {Start: 1 << 30, End: 1<<30 + length}, {End: 1}}
		if got := len(s.newBuffer(Shard{Pieces: pieces})); got != want {
			t.Errorf("a piece of %d bytes: %d, want %d", length, got, want)
		}
	}
}

// There may be a million small shards; each pays for what it holds.
func TestSmallShardsAllocateLittle(t *testing.T) {
	in := testInput()
	in.ShardBytes = 100
	s, shards, err := open(storeOf(t, map[string]string{"f": strings.Repeat("a\tsome text\n", 1000)}), in)
	if err != nil {
		t.Fatal(err)
	}
	records, _, allocated, err := count(t, s, shards)
	if perShard := allocated / uint64(len(shards)); err != nil || records != 1000 || perShard > 32<<10 {
		t.Errorf("%d records, %v, %d bytes allocated per shard; want 1000 and at most 32 KiB", records, err, perShard)
	}
}
