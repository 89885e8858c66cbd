package clock_test

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/clock"
)

// machine is a wall clock with an error, and a boot clock.
type machine struct {
	*clock.Clock
	boot time.Duration
	skew time.Duration
}

var epoch = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func newMachine() *machine {
	m := &machine{boot: 1000 * time.Hour}
	m.Clock = clock.New(func() time.Time { return m.right().Add(m.skew) }, func() time.Duration { return m.boot })
	return m
}

// right is the right time.
func (m *machine) right() time.Time { return epoch.Add(m.boot - 1000*time.Hour) }

func (m *machine) wait(d time.Duration) { m.boot += d }

// others lets the clocks of other machines report, each with its error.
func (m *machine) others(errors ...time.Duration) {
	for i, e := range errors {
		m.Note(string(rune('a'+i)), m.right().Add(e), m.boot, false)
	}
}

func (m *machine) is(t *testing.T, when string, want clock.Doubt, off time.Duration) {
	t.Helper()
	if got := m.Verdict().Doubt; got != want {
		t.Errorf("%s: doubt %d, want %d", when, got, want)
	}
	if got := m.Now().Sub(m.right()); got != off {
		t.Errorf("%s: the time is off by %s, want %s", when, got, off)
	}
}

// A clock that nobody contradicts follows small steps and jumps ahead of up to a day; back it does not go.
func TestALoneClock(t *testing.T) {
	m := newMachine()
	m.skew = -3 * time.Second
	m.is(t, "3 s back", clock.None, -3*time.Second)
	m.wait(time.Hour)
	m.skew = -48 * time.Hour
	m.is(t, "2 days back", clock.Jumped, -3*time.Second)
	m.wait(90 * time.Second)
	m.is(t, "and later", clock.Jumped, -3*time.Second)
	m.skew = 0
	m.is(t, "right again", clock.None, 0)
	m.skew = 24*time.Hour + time.Second
	m.is(t, "more than a day ahead", clock.Jumped, 0)
	m.skew = time.Hour
	m.is(t, "then an hour ahead", clock.Jumped, 0)
	m.skew = 0
	m.is(t, "right once more", clock.None, 0)
}

// An hour ahead is followed, and taken back when the clock comes back. Several such jumps may not add up to
// more than a day.
func TestALoneClockStrays(t *testing.T) {
	m := newMachine()
	m.skew = time.Hour
	m.is(t, "an hour ahead", clock.None, time.Hour)
	if m.Verdict().Confirmed {
		t.Error("a jump that nobody confirmed is taken for confirmed")
	}
	m.wait(90 * time.Second)
	m.skew = 20 * time.Second // the right time, as another server tells it
	m.is(t, "back", clock.None, 20*time.Second)
	if !m.Verdict().Confirmed {
		t.Error("the clock went back to what it was, and that does not count")
	}
	m.skew = 13 * time.Hour
	m.is(t, "13 hours ahead", clock.None, 13*time.Hour)
	m.skew = 25 * time.Hour
	m.is(t, "another 12 hours", clock.Jumped, 13*time.Hour)
	m.Accept()
	m.is(t, "accepted", clock.None, 25*time.Hour)
	m.skew = 0
	m.is(t, "back from there", clock.Jumped, 25*time.Hour)
	m.Accept()
	m.is(t, "accepted again", clock.None, 0)
}

// A machine that slept shows no jump: both of its clocks went on.
func TestASuspendedMachine(t *testing.T) {
	m := newMachine()
	m.others(0, 0)
	m.wait(9 * 24 * time.Hour)
	m.is(t, "awake", clock.None, 0)
}

// Of three clocks the one that is wrong knows it, at its start and after a jump, whichever way.
func TestThreeClocks(t *testing.T) {
	for _, skew := range []time.Duration{time.Hour, 31 * 24 * time.Hour, 3652 * 24 * time.Hour, -48 * time.Hour,
		90 * time.Second} {
		wrong := newMachine()
		wrong.skew = skew
		wrong.Accept() // as it would be at a start
		wrong.skew = skew + 6*time.Second
		wrong.others(0, time.Second)
		wrong.is(t, "wrong from the start", clock.Disagrees, time.Second)
		wrong.skew = 0
		wrong.is(t, "set right", clock.None, 0)

		jumps := newMachine()
		jumps.others(0, 10*time.Second)
		jumps.is(t, "before", clock.None, 0)
		jumps.skew = skew
		jumps.is(t, "jumped", clock.Disagrees, 0)
		if got := jumps.Verdict(); got.Trusted() || got.Others != 2 || (got.Offset-skew).Abs() > time.Minute {
			t.Errorf("by %s: %+v", skew, got)
		}
		jumps.wait(time.Minute) // and nobody answers any more
		jumps.is(t, "alone", clock.Disagrees, 0)
		jumps.skew = 2 * time.Second
		jumps.is(t, "right again, alone", clock.None, 2*time.Second)
	}
	one := newMachine()
	one.others(59*time.Second, 31*24*time.Hour)
	one.is(t, "one of the others is wrong", clock.None, 0)
	all := newMachine()
	all.skew = time.Hour
	all.others(0, 0) // they report their estimates, which have not jumped though their wall clocks have
	all.is(t, "all have jumped", clock.Disagrees, 0)
	all.Accept()
	all.is(t, "accepted", clock.None, time.Hour)
}

// Of two clocks that disagree neither is known to be right: both stop, until one is set or somebody accepts it.
func TestTwoClocks(t *testing.T) {
	m := newMachine()
	m.others(90 * time.Second)
	m.is(t, "90 s apart", clock.Disagrees, 0)
	m.wait(time.Hour)
	m.is(t, "and nobody answers", clock.Disagrees, 0)
	m.others(30 * time.Second)
	m.is(t, "30 s apart", clock.None, 0)
	four := newMachine()
	four.others(0, time.Hour, time.Hour)
	four.is(t, "two against two", clock.Disagrees, time.Hour)
}

// What an authority says is the time, also alone: it has compared several clocks.
func TestAnAuthority(t *testing.T) {
	m := newMachine()
	m.skew = 31 * 24 * time.Hour
	m.Accept()
	m.skew += 6 * time.Second
	m.Note("leader", m.right(), m.boot, true)
	m.is(t, "told", clock.Disagrees, 0)
}

// A clock that lies behind the log at its start stops there, until it has passed it or is accepted.
func TestBehindTheLog(t *testing.T) {
	m := newMachine()
	m.NotBefore(m.right().Add(59 * time.Second))
	m.is(t, "as far as clocks may differ", clock.None, 0)
	m.NotBefore(m.right().Add(2 * time.Hour))
	m.is(t, "behind", clock.Behind, 2*time.Hour)
	m.skew = 3 * time.Hour
	m.is(t, "set", clock.None, 3*time.Hour)
	m.NotBefore(m.right().Add(31 * 24 * time.Hour))
	m.is(t, "a log that is ahead", clock.Behind, 31*24*time.Hour)
	m.Accept()
	m.is(t, "accepted", clock.None, 3*time.Hour)
	m.NotBefore(m.right().Add(31 * 24 * time.Hour))
	m.is(t, "accepted, and asked again", clock.None, 3*time.Hour)
}
