package node

import (
	"testing"
)

func TestWhenADiskIsLow(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	for _, c := range []struct {
		size, low, full uint64 // the least free space that is not
	}{
		{64 * mib, 16 * mib, 64 * mib / 100 * 3},
		{gib, 256 * mib, gib / 100 * 3},
		{4 * gib, gib, 4 * gib / 100 * 3},
		{8 * gib, gib, 8 * gib / 100 * 3},
		{50 * gib, 2 * gib, 512 * mib},
		{2048 * gib, 2 * gib, 512 * mib},
	} {
		for _, probe := range []struct {
			free      uint64
			low, full bool
		}{{c.low, false, false}, {c.low - 1, true, false}, {c.full, true, false}, {c.full - 1, true, true},
			{0, true, true}} {
			if s := (Space{probe.free, c.size}); s.Low() != probe.low || s.Full() != probe.full {
				t.Errorf("%s: low %v, full %v, want %v, %v", s, s.Low(), s.Full(), probe.low, probe.full)
			}
		}
	}
}

func TestFreeSpaceIsThatOfTheDisk(t *testing.T) {
	s, err := FreeSpace(t.TempDir())
	if err != nil || s.Free == 0 || s.Free > s.Size {
		t.Errorf("%s, %v", s, err)
	}
	if _, err := FreeSpace("/no/such/directory"); err == nil {
		t.Error("a directory that is not there has space")
	}
}
