package web

import (
	"encoding/xml"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Four leaves by hand: one is committed, one runs, one failed, one waits.
func TestPictureOfFourLeaves(t *testing.T) {
	v := leavesOf(&pb.LeavesResponse{Round: 3, Phase: "lloyd", Leaves: 4, Committed: 1,
		CommittedByRange: []uint32{1, 0, 0, 0}, RunningByRange: []uint32{0, 1, 0, 0},
		FailedByRange: []uint32{0, 0, 1, 0}})
	if v.Committed != 1 || v.Running != 1 || v.Failed != 1 || v.Waiting != 1 || v.PerCell != 1 {
		t.Errorf("%+v", v)
	}
	want := `<svg class="leaves" viewBox="0 0 319 9" role="img" ` +
		`aria-label="Leaves of round 3: 1 of 4 committed, 1 running, 1 failed and waiting for another try, ` +
		`1 waiting">` +
		`<path class="waits" d="M0 0h9v9h-9zM10 0h9v9h-9zM20 0h9v9h-9zM30 0h9v9h-9z"/>` +
		`<path class="done" d="M0 0h9v9h-9z"/><path class="runs" d="M10 0h9v9h-9z"/>` +
		`<path class="fails" d="M20 0h9v9h-9z"/></svg>`
	if got := string(v.Picture); got != want {
		t.Errorf("picture\n%s, want\n%s", got, want)
	}
}

// A square of many leaves is filled from below; what few of them do is seen all the same.
func TestHeights(t *testing.T) {
	for _, c := range []struct {
		counts [3]uint32
		leaves float64
		want   [3]float64
	}{
		{[3]uint32{0, 0, 0}, 3900, [3]float64{0, 0, 0}},
		{[3]uint32{1950, 0, 0}, 3900, [3]float64{4.5, 0, 0}},
		{[3]uint32{3898, 1, 1}, 3900, [3]float64{7, 1, 1}},
		{[3]uint32{0, 3900, 0}, 3900, [3]float64{0, 9, 0}},
		{[3]uint32{3900, 3900, 3900}, 3900, [3]float64{0, 0, 9}}, // counts that do not agree stay in their square
	} {
		if got := heightsOf(c.counts, c.leaves); got != c.want {
			t.Errorf("%v of %g: %v, want %v", c.counts, c.leaves, got, c.want)
		}
	}
}

// The picture of a million leaves is as small as that of a thousand, and well-formed whatever the counts are.
func TestPicturesAreSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		cells, leaves := 1+rng.IntN(512), uint64(1+rng.IntN(1_000_000))
		l := &pb.LeavesResponse{Leaves: max(leaves, uint64(cells)), Committed: rng.Uint64N(leaves + 1)}
		for range cells {
			most := uint32(l.GetLeaves()/uint64(cells)) + 2
			l.CommittedByRange = append(l.CommittedByRange, rng.Uint32N(most))
			l.RunningByRange = append(l.RunningByRange, rng.Uint32N(most))
			l.FailedByRange = append(l.FailedByRange, rng.Uint32N(most))
		}
		picture := string(leavesOf(l).Picture)
		if len(picture) > 60_000 {
			t.Errorf("%d bytes for %d squares", len(picture), cells)
		}
		for d := xml.NewDecoder(strings.NewReader(picture)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v: %s", err, picture)
			}
		}
	}
}

// An answer that cannot be is not drawn.
func TestNoPicture(t *testing.T) {
	for _, l := range []*pb.LeavesResponse{nil, {}, {Leaves: 4},
		{Leaves: 1, CommittedByRange: []uint32{0, 0}, RunningByRange: []uint32{0, 0}, FailedByRange: []uint32{0, 0}},
		{Leaves: 2, CommittedByRange: []uint32{0, 0}, RunningByRange: []uint32{0}, FailedByRange: []uint32{0, 0}}} {
		if v := leavesOf(l); v != nil {
			t.Errorf("%v: %+v", l, v)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 12345: "12,345", 1000000: "1,000,000",
		-1000: "-1,000", -100: "-100"} {
		if got := count(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
