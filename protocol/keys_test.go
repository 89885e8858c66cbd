package protocol_test

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

func TestObjectKey(t *testing.T) {
	sum := [32]byte{0xab, 0xcd}
	digest := "abcd" + strings.Repeat("00", 30)
	key := protocol.ObjectKey("a-1", 12, sum)
	if want := "jobs/a-1/ab/" + digest + "-12"; key != want {
		t.Fatalf("key %s, want %s", key, want)
	}
	if round, got, ok := protocol.ParseObjectKey("a-1", key); !ok || round != 12 || got != sum {
		t.Errorf("parsed: round %d, %x, %v", round, got, ok)
	}
	for _, other := range []string{
		"", "jobs/a-1/logs/0000000000001-w-000001.jsonl", "jobs/a/ab/" + digest + "-12", "jobs/a-1/ac/" + digest +
			"-12",
		"jobs/a-1/ab/" + digest, "jobs/a-1/ab/" + digest + "-", "jobs/a-1/ab/" + digest + "-012",
		"jobs/a-1/ab/" + digest + "--1",
		"jobs/a-1/ab/" + digest + "-4294967296", "jobs/a-1/ab/" + strings.ToUpper(digest) + "-12",
		"jobs/a-1/ab/" + digest[2:] + "-12",
	} {
		if _, _, ok := protocol.ParseObjectKey("a-1", other); ok {
			t.Errorf("%q passes for an object's key", other)
		}
	}
}

func TestValidJobID(t *testing.T) {
	long := strings.Repeat("x", 63)
	for id, want := range map[string]bool{
		"a": true, "z": true, "0": true, "9": true, "a-": true, "digits-k3f9p2": true, long: true,
		"": false, long + "x": false, "-a": false, "A": false, "Z": false,
		"a/b": false, "a:b": false, "a.b": false, "a_b": false,
		"a`": false, "a{": false, "a b": false, "é": false, "..": false,
	} {
		if got := protocol.ValidJobID(id); got != want {
			t.Errorf("%q: %v, want %v", id, got, want)
		}
	}
}

func FuzzParseObjectKey(f *testing.F) {
	f.Add("a", protocol.ObjectKey("a", 3, [32]byte{1}))
	f.Fuzz(func(t *testing.T, job, key string) {
		if round, sum, ok := protocol.ParseObjectKey(job, key); ok && protocol.ObjectKey(job, round, sum) != key {
			t.Errorf("%q is not the key of what it is parsed as", key)
		}
	})
}
