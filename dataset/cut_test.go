package dataset

import "testing"

// A plan has at most MaxShards shards, by cutting, by packing and by both.
func TestCutUpToMaxShards(t *testing.T) {
	full := make([]Shard, MaxShards+9)
	for _, c := range []struct {
		before int   // shards
		large  int64 // bytes of an object that is cut into shards of one byte
		small  bool  // another object, of one byte, follows
		want   bool
	}{
		{0, MaxShards + 1, false, false},
		{MaxShards - 2, 2, false, true},
		{MaxShards - 2, 3, false, false},
		{MaxShards - 2, 9, false, false},
		{MaxShards - 3, 2, true, true},
		{MaxShards - 2, 2, true, false},
	} {
		cut := cutter{shardBytes: 1, shards: full[:c.before]}
		fits := cut.add(0, c.large, false)
		if fits && c.small {
			fits = cut.add(1, 1, false)
		}
		if fits = fits && cut.flush(); fits != c.want || len(cut.shards) > MaxShards+1 {
			t.Errorf("%+v: %v, %d shards", c, fits, len(cut.shards))
		}
	}
}

func TestIsGzip(t *testing.T) {
	for _, c := range []struct {
		key, compression string
		want             bool
	}{
		{"a.gz", "auto", true}, {"a.GZIP", "auto", true}, {"a", "auto", false}, {"a.gz", "none", false},
		{"a", "gzip", true}, {"a.zst", "auto", false}, {"a", "zip", false},
	} {
		if got := IsGzip(c.key, c.compression); got != c.want {
			t.Errorf("%s under %s: %v", c.key, c.compression, got)
		}
	}
}
