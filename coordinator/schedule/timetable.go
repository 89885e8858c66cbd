package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/protocol"
	"github.com/netresearch/go-cron"
)

// ErrCron: the text is no cron expression of five fields, or names no instant.
var ErrCron = errors.New("not a cron expression that names an instant")

// searchYears is how far apart two instants of an expression may lie: 29 February
// skips eight years around 2100.
const searchYears = 10

// Timetable is a cron expression in a time zone: the instants it names.
//
// The fields are minute, hour, day of month, month and day of week; where both days are
// restricted either may match, as POSIX has it. They speak of the zone's wall clock. A
// reading that the clock skips names no instant; one that it shows twice names the first.
type Timetable struct {
	fields *cron.SpecSchedule // asked in UTC only, where no reading is skipped or doubled
	zone   *time.Location
}

// ParseCron reads an expression of five fields. Its errors match ErrCron.
func ParseCron(expression string, zone *time.Location) (Timetable, error) {
	if len(strings.Fields(expression)) != 5 || strings.ContainsAny(expression, "@=") {
		return Timetable{}, fmt.Errorf(
			"%w: %q; give minute, hour, day of month, month and day of week, such as \"15 2 * * *\"", ErrCron,
			expression)
	}
	parser, err := cron.TryNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.DowOrDom)
	if err != nil {
		return Timetable{}, fmt.Errorf("make a cron parser: %w", err)
	}
	parsed, err := parser.WithMaxSearchYears(searchYears).Parse(expression)
	if err != nil {
		return Timetable{}, fmt.Errorf("%w: %q: %w", ErrCron, expression, err)
	}
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Timetable{}, fmt.Errorf("%w: %q", ErrCron, expression)
	}
	if fields.Next(time.Unix(0, 0).UTC()).IsZero() {
		return Timetable{}, fmt.Errorf("%w: %q: there is no such day", ErrCron, expression)
	}
	return Timetable{fields: fields, zone: zone}, nil
}

// Next is the first instant after the given one, in UTC; zero when there is none within
// a few decades.
func (t Timetable) Next(after time.Time) time.Time {
	wall := reading(after.In(t.zone))
	for limit := wall.AddDate(2*searchYears, 0, 0); wall.Before(limit); {
		if wall = t.fields.Next(wall); wall.IsZero() {
			return time.Time{}
		}
		if at, ok := t.instant(wall); ok && at.After(after) {
			return at
		}
	}
	return time.Time{}
}

// Prev is the last instant before the given one, in UTC; zero when there is none within a
// few decades.
func (t Timetable) Prev(before time.Time) time.Time {
	in := before.In(t.zone)
	wall := reading(in).Add(setBack(in)) // shown before, by a clock set back since
	wall = wall.Add(time.Second)         // the library begins a second earlier; what is not before is passed over
	for limit := wall.AddDate(-2*searchYears, 0, 0); wall.After(limit); {
		if wall = t.fields.Prev(wall); wall.IsZero() {
			return time.Time{}
		}
		if at, ok := t.instant(wall); ok && at.Before(before) {
			return at
		}
	}
	return time.Time{}
}

// setBack is how far the last change of the zone's offset before t set the clock back.
func setBack(t time.Time) time.Duration {
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return 0
	}
	_, before := start.Add(-1).Zone()
	_, now := t.Zone()
	return max(0, time.Duration(before-now)*time.Second)
}

// reading is what a clock on the wall shows, written as if it were UTC.
func reading(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// instant is when the zone's clock first shows wall; ok is false when it never does.
func (t Timetable) instant(wall time.Time) (at time.Time, ok bool) {
	if t.zone == time.UTC {
		return wall, true
	}
	// The offset in force then is that before or after the change of offset nearest to it.
	guess := wall.In(t.zone)
	start, end := guess.ZoneBounds()
	for _, in := range []time.Time{guess, start.Add(-1), end} {
		_, offset := in.Zone()
		shown := wall.Add(-time.Duration(offset) * time.Second)
		if reading(shown.In(t.zone)).Equal(wall) && (!ok || shown.Before(at)) {
			at, ok = shown, true
		}
	}
	return at, ok
}

// Tick is an instant with the one before it, in the timetable's zone.
func (t Timetable) Tick(at time.Time) protocol.Tick {
	tick := protocol.Tick{At: at.In(t.zone)}
	if previous := t.Prev(at); !previous.IsZero() {
		tick.Previous = previous.In(t.zone)
	}
	return tick
}
