package forecast

import (
	"math"
	"slices"
	"testing"
)

// mappers are the times of 1,000 mappers of which one stalls.
func mappers(t testing.TB, stall float64) Times {
	t.Helper()
	seconds := make([]float64, 1000)
	for i := range seconds {
		seconds[i] = 1
	}
	seconds[123] = stall
	times, err := TimesOf(seconds)
	if err != nil {
		t.Fatal(err)
	}
	return times
}

var copied = Copies{After: 1.5, From: 0.75}

// 1,000 mappers take 1 second each, and stall to 60 with probability 1/1000. By hand: without copies all end in
// 1 second with probability 0.999^1000 = 0.36770. A copy begins at 1.5 seconds; both attempts stall with probability
// 10^-6, so all end by 2.5 seconds with probability (1-10^-6)^1000 = 0.99900.
func TestAThousandMappers(t *testing.T) {
	times := mappers(t, 60)
	for _, c := range []struct {
		at     float64
		copies Copies
		want   float64
	}{
		{0.9, Copies{}, 0}, {1, Copies{}, 0.36770}, {59, Copies{}, 0.36770}, {60, Copies{}, 1},
		{1, copied, 0.36770}, {2.4, copied, 0.36770}, {2.5, copied, 0.99900}, {59, copied, 0.99900}, {60, copied, 1},
	} {
		if got := times.AllEnded(c.at, 1000, c.copies); math.Abs(got-c.want) > 5e-6 {
			t.Errorf("by %v, copies %v: %v, want %v", c.at, c.copies, got, c.want)
		}
	}
	for _, c := range []struct {
		p      float64
		copies Copies
		want   float64
	}{
		{0.3, Copies{}, 1}, {0.5, Copies{}, 60}, {0.99, Copies{}, 60},
		{0.3, copied, 1}, {0.5, copied, 2.5}, {0.99, copied, 2.5}, {0.9995, copied, 60},
	} {
		if got := times.AllEndedBy(c.p, 1000, c.copies); got != c.want {
			t.Errorf("with probability %v, copies %v: by %v, want %v", c.p, c.copies, got, c.want)
		}
	}
}

// A task needs k copies where (1-q^(k+1))^n >= p. By hand, for q = 1/1000 and n = 1000: 0.3677, 0.99900, 0.999999.
func TestCopiesFor(t *testing.T) {
	for _, c := range []struct {
		q    float64
		n    int
		p    float64
		want int
		ok   bool
	}{
		{0, 1000, 1, 0, true}, {0.001, 1000, 0.3, 0, true}, {0.001, 1000, 0.5, 1, true},
		{0.001, 1000, 0.99, 1, true}, {0.001, 1000, 0.9995, 2, true}, {0.5, 1, 0.9, 3, true}, {1, 2, 0.1, 0, false},
	} {
		if got, ok := CopiesFor(c.q, c.n, c.p); got != c.want || ok != c.ok {
			t.Errorf("q %v, n %d, p %v: %d %v, want %d %v", c.q, c.n, c.p, got, ok, c.want, c.ok)
		}
	}
}

// By hand: what is drawn is given.
func TestARoundByHand(t *testing.T) {
	times, _ := TimesOf([]float64{1})
	draws := map[[2]int]float64{{0, 0}: 1, {1, 0}: 10, {2, 0}: 1, {3, 0}: 1, {1, 1}: 4}
	draw := func(task, attempt int) float64 { return draws[[2]int{task, attempt}] }
	for _, c := range []struct {
		what   string
		slots  int
		copies Copies
		want   float64
	}{
		{"one slot: the sum", 1, Copies{}, 13},
		{"two slots: 0, 2 and 3 in the first, 1 in the second", 2, Copies{}, 10},
		{"a copy from 3 on, when three of four have ended", 2, copied, 7},
		{"a copy from 1.5 on: three of four have ended at 1", 4, copied, 5.5},
		{"nobody is copied before 8 seconds", 4, Copies{After: 1.5, Least: 8}, 10},
		{"a copy that would end later", 4, Copies{After: 7}, 10},
		{"one slot has no room for a copy before the end", 1, copied, 13},
	} {
		got := Round{Tasks: 4, Slots: c.slots, Times: times, Copies: c.copies}.Once(draw)
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// At most one copy at a time: 0 and 1 take 10, copies 2. Both are overdue at 1.5; the second copy begins when the
// first has ended, at 3.5, and ends at 5.5.
func TestCopiesAreBounded(t *testing.T) {
	times, _ := TimesOf([]float64{1})
	draw := func(task, attempt int) float64 {
		if task < 2 {
			return 10 - 8*float64(attempt)
		}
		return 1
	}
	for most, want := range []float64{3.5, 5.5, 3.5} {
		r := Round{Tasks: 8, Slots: 8, Times: times, Copies: Copies{After: 1.5, From: 0.75, Most: most}}
		if got := r.Once(draw); got != want {
			t.Errorf("%d copies at a time: %v, want %v", most, got, want)
		}
	}
}

// What is simulated with a slot for every attempt has the distribution of the closed form.
func TestSimulationHasTheClosedForm(t *testing.T) {
	seconds := []float64{1, 1.1, 1.2, 1.2, 1.3, 1.4, 1.4, 1.5, 1.5, 1.5, 1.6, 1.6, 1.7, 1.8, 1.9, 2, 2.1, 2.2, 3, 9}
	times, err := TimesOf(seconds)
	if err != nil {
		t.Fatal(err)
	}
	const tasks, repetitions = 40, 2000
	for _, c := range []Copies{{}, {After: 1.5}, {After: 2}} {
		round := Round{Tasks: tasks, Slots: 2 * tasks, Times: times, Copies: c}
		ends := Simulate([]Round{round}, repetitions, 7)
		for at := 1.0; at <= 12; at += 0.25 {
			want := times.AllEnded(at, tasks, c)
			ended, _ := slices.BinarySearch(ends, math.Nextafter(at, 100))
			got := float64(ended) / repetitions
			if tolerance := 4*math.Sqrt(want*(1-want)/repetitions) + 1e-9; math.Abs(got-want) > tolerance {
				t.Errorf("copies %v, by %v: simulated %v, closed form %v", c, at, got, want)
			}
		}
	}
}

// Draws are keyed: a simulation is a function of its arguments, and longer ones begin with shorter ones.
func TestSimulationsRepeat(t *testing.T) {
	times := mappers(t, 60)
	rounds := []Round{{Tasks: 100, Slots: 7, Times: times, Copies: copied}, {Tasks: 3, Slots: 7, Times: times}}
	first := Simulate(rounds, 50, 1)
	if again := Simulate(rounds, 50, 1); !slices.Equal(first, again) {
		t.Error("two simulations differ")
	}
	// 100 tasks of a second on 7 slots take 15 seconds, 3 take 1.
	if first[0] != 16 || !slices.IsSorted(first) {
		t.Errorf("begins with %v", first[:3])
	}
	if other := Simulate(rounds, 200, 2); slices.Equal(first, other[:50]) {
		t.Error("the seed does not matter")
	}
}

func TestTimesThatAreNone(t *testing.T) {
	for _, seconds := range [][]float64{nil, {-1}, {1, math.NaN()}, {math.Inf(1)}} {
		if _, err := TimesOf(seconds); err == nil {
			t.Errorf("%v was taken", seconds)
		}
	}
}

func TestQuantile(t *testing.T) {
	five := []float64{1, 2, 3, 4, 5}
	for p, want := range map[float64]float64{0: 1, 0.2: 1, 0.21: 2, 0.5: 3, 0.9: 5, 1: 5} {
		if got := Quantile(five, p); got != want {
			t.Errorf("quantile %v of %v: %v, want %v", p, five, got, want)
		}
	}
}
