// Package clock judges a wall clock, which may be wrong, by a clock that only counts time since the machine
// was started, and by the times that other machines report.
//
// A Clock keeps an estimate of the right time that no jump of the wall clock moves: an offset to the boot
// clock. The wall clock moves the offset while it may be trusted: small steps always, a jump where another
// machine's time agrees with it or a person accepts it. Otherwise the estimate goes on by the boot clock, and
// the Verdict says that nothing irrevocable may follow from the time. The package reads no clock: it is given two.
package clock

import (
	"slices"
	"sync"
	"time"
)

const (
	// MaxSkew is how far a trusted wall clock may be from the median of all clocks.
	MaxSkew = time.Minute
	// JumpLimit is how far the wall clock may leave the boot clock between two looks: more is a jump.
	JumpLimit = 5 * time.Second
	// LoneStep is how far a wall clock may jump ahead that no other clock contradicts.
	LoneStep = 24 * time.Hour
	// freshness is how long another clock's time counts.
	freshness = 30 * time.Second
)

// Doubt says why the wall clock is not trusted.
type Doubt int

// The doubts.
const (
	None      Doubt = iota
	Jumped          // against the boot clock, and no other clock is known
	Disagrees       // with the median of all known clocks
	Behind          // what the log says of the time, and no other clock is known
)

// Verdict is what is known of the wall clock.
type Verdict struct {
	Doubt Doubt
	// Offset is how far the wall clock is ahead: of the median of the clocks, or else of the estimate.
	Offset time.Duration
	Others int // how many other clocks were compared
	// Confirmed: the estimate is that of several clocks, of the clock as it was before a jump that was taken
	// back, or of a person.
	Confirmed bool
	Since     time.Duration // of the boot clock: since when the doubt, or the trust, lasts
}

// Trusted reports whether decisions may rest on the time.
func (v Verdict) Trusted() bool { return v.Doubt == None }

// Clock is safe for concurrent use.
type Clock struct {
	wall func() time.Time
	boot func() time.Duration

	mu        sync.Mutex
	base      time.Duration // the estimate of the right time, since 1970, is base and the boot clock
	origin    time.Duration // base before the jumps that no other clock has confirmed
	strayed   bool          // there were such jumps
	accepted  bool          // by a person: other clocks do not count until the next jump
	unsettled bool          // the doubt arose without a jump: that nothing jumps does not end it
	others    map[string]other
	verdict   Verdict
}

// other is what another machine's clock showed.
type other struct {
	base      time.Duration // its time, less the boot clock's at that instant
	at        time.Duration // of the boot clock
	authority bool
}

// New makes a Clock that trusts the wall clock as it is now.
func New(wall func() time.Time, boot func() time.Duration) *Clock {
	c := &Clock{wall: wall, boot: boot, others: make(map[string]other)}
	c.base, c.verdict.Since = c.read(), boot()
	return c
}

// read is the wall clock less the boot clock.
func (c *Clock) read() time.Duration { return time.Duration(c.wall().UnixNano()) - c.boot() }

// Now is the estimate of the right time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return time.Unix(0, int64(c.base+c.boot()))
}

// Boot reads the boot clock.
func (c *Clock) Boot() time.Duration { return c.boot() }

// Verdict looks at the clocks and says what is known.
func (c *Clock) Verdict() Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.verdict
}

// Note takes what another machine's clock showed at an instant of the boot clock. An authority has compared
// several clocks: its time is taken for the right one where the own wall clock disagrees.
func (c *Clock) Note(name string, shown time.Time, at time.Duration, authority bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others[name] = other{base: time.Duration(shown.UnixNano()) - at, at: at, authority: authority}
}

// Forget drops what other clocks showed.
func (c *Clock) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.others)
}

// Accept trusts the wall clock as it is, whatever other clocks show, until it jumps again.
func (c *Clock) Accept() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted, c.strayed = true, false
	c.trust(c.read(), 0, true)
}

// NotBefore tells the clock what the log says of the time. Where no other clock is known, a wall clock that
// lies behind it by more than MaxSkew is not trusted.
func (c *Clock) NotBefore(logged time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	floor := time.Duration(logged.UnixNano()) - c.boot()
	if len(c.fresh()) > 0 || c.accepted || c.base >= floor-MaxSkew {
		return
	}
	off := c.read()
	c.base = floor
	c.doubt(Behind, off-c.base, 0)
}

// look judges the wall clock as it is. The caller holds mu.
func (c *Clock) look() {
	off := c.read()
	jumped := (off - c.base).Abs() > JumpLimit
	if jumped {
		c.accepted = false
	}
	switch fresh := c.fresh(); {
	case c.accepted:
		c.trust(off, len(fresh), true)
	case len(fresh) > 0:
		c.compare(off, fresh)
	default:
		c.alone(off)
	}
}

// fresh lists the other clocks that count, in the order of their times.
func (c *Clock) fresh() (list []other) {
	now := c.boot()
	for _, o := range c.others {
		if now-o.at <= freshness {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b other) int { return int(min(max(a.base-b.base, -1), 1)) })
	return list
}

// compare judges by the median of all clocks, this one among them. Of an even number both middle ones count,
// so that of two clocks that disagree neither is trusted.
func (c *Clock) compare(off time.Duration, others []other) {
	all := []time.Duration{off}
	for _, o := range others {
		all = append(all, o.base)
	}
	slices.Sort(all)
	low, high := all[(len(all)-1)/2], all[len(all)/2]
	if (off-low).Abs() <= MaxSkew && (off-high).Abs() <= MaxSkew {
		c.strayed = false
		c.trust(off, len(others), true)
		c.verdict.Offset = off - low
		return
	}
	right := others[len(others)/2]
	if (len(others) > 1 || right.authority) && (c.base-right.base).Abs() > MaxSkew {
		c.base = right.base
	}
	c.unsettled = (off - c.base).Abs() <= JumpLimit
	c.doubt(Disagrees, off-right.base, len(others))
}

// alone judges by the boot clock: no other clock is known.
func (c *Clock) alone(off time.Duration) {
	step, first := off-c.base, c.base
	if c.strayed {
		first = c.origin
	}
	switch {
	case c.verdict.Doubt == Disagrees && c.unsettled:
		c.doubt(Disagrees, c.verdict.Offset, 0)
	case c.verdict.Doubt == Behind && step >= -JumpLimit, step.Abs() <= JumpLimit:
		c.trust(off, 0, c.verdict.Confirmed && !c.strayed)
	case c.strayed && (off-c.origin).Abs() <= MaxSkew:
		c.strayed = false
		c.trust(off, 0, true)
	case c.verdict.Doubt == None && step > 0 && off-first <= LoneStep:
		c.origin, c.strayed = first, true
		c.trust(off, 0, false)
	case c.verdict.Doubt != None:
		c.doubt(c.verdict.Doubt, step, 0)
	default:
		c.doubt(Jumped, step, 0)
	}
}

func (c *Clock) trust(off time.Duration, others int, confirmed bool) {
	c.base, c.unsettled = off, false
	c.settle(Verdict{Others: others, Confirmed: confirmed})
}

func (c *Clock) doubt(why Doubt, offset time.Duration, others int) {
	c.settle(Verdict{Doubt: why, Offset: offset, Others: others})
}

// settle keeps since when the verdict is what it is.
func (c *Clock) settle(v Verdict) {
	v.Since = c.verdict.Since
	if v.Doubt != c.verdict.Doubt {
		v.Since = c.boot()
	}
	c.verdict = v
}
