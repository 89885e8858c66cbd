package schedule_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/gram-compute/gram/coordinator/schedule"
	"pgregory.net/rapid"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func timetable(t testing.TB, expression, zoneName string) schedule.Timetable {
	t.Helper()
	table, err := schedule.ParseCron(expression, zone(t, zoneName))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Worked by hand from the zones' rules; want is in UTC. On both days of the year on which
// the clocks change, in five zones: a reading that is skipped has no tick, one shown twice has the first.
func TestTicksOnTheDaysClocksChange(t *testing.T) {
	for _, c := range []struct{ zone, cron, after, want string }{
		{"Europe/Berlin", "30 2 * * *", "2026-03-28T00:00", "2026-03-28T01:30 2026-03-30T00:30"},
		{"Europe/Berlin", "30 2 * * *", "2026-10-24T12:00", "2026-10-25T00:30 2026-10-26T01:30"},
		{"Europe/Berlin", "*/30 * * * *", "2026-10-24T23:50", "2026-10-25T00:00 2026-10-25T00:30 2026-10-25T02:00"},
		{"Europe/Berlin", "*/30 * * * *", "2026-10-25T01:10", "2026-10-25T02:00"}, // from within the second showing
		{"Europe/London", "30 1 * * *", "2026-03-28T00:00", "2026-03-28T01:30 2026-03-30T00:30"},
		{"Europe/London", "30 1 * * *", "2026-10-24T12:00", "2026-10-25T00:30 2026-10-26T01:30"},
		{"America/New_York", "30 2 * * *", "2026-03-07T00:00", "2026-03-07T07:30 2026-03-09T06:30"},
		{"America/New_York", "30 1 * * *", "2026-10-31T12:00", "2026-11-01T05:30 2026-11-02T06:30"},
		{"Australia/Sydney", "30 2 * * *", "2026-10-02T12:00", "2026-10-02T16:30 2026-10-04T15:30"},
		{"Australia/Sydney", "30 2 * * *", "2026-04-04T12:00", "2026-04-04T15:30 2026-04-05T16:30"},
		// by half an hour
		{"Australia/Lord_Howe", "15 2 * * *", "2026-10-02T12:00", "2026-10-02T15:45 2026-10-04T15:15"},
		{"Australia/Lord_Howe", "45 1 * * *", "2026-04-04T12:00", "2026-04-04T14:45 2026-04-05T15:15"},
		// midnight is skipped
		{"America/Sao_Paulo", "0 0 * * *", "2018-11-03T00:00", "2018-11-03T03:00 2018-11-05T02:00"},
		{"America/Sao_Paulo", "0 1 4 11 *", "2018-11-03T00:00", "2018-11-04T03:00"},
		{"UTC", "0 0 29 2 *", "2096-03-01T00:00", "2104-02-29T00:00"},
		{"UTC", "0 0 13 * 5", "2026-11-01T00:00", "2026-11-06T00:00 2026-11-13T00:00 2026-11-20T00:00"}, // either day
		{"UTC", "59 23 31 12 SUN-TUE/2", "2026-12-27T00:00", "2026-12-27T23:59 2026-12-29T23:59 2026-12-31T23:59"},
	} {
		table, at := timetable(t, c.cron, c.zone), instant(t, c.after)
		for _, want := range strings.Fields(c.want) {
			if at = table.Next(at); at.Format("2006-01-02T15:04") != want {
				t.Errorf("%s in %s: %s, want %s", c.cron, c.zone, at, want)
			}
		}
	}
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestParseCronRefuses(t *testing.T) {
	for _, text := range []string{
		"", "* * * *", "* * * * * *", "@daily", "@every 5m", "TZ=UTC * * * *", "CRON_TZ=UTC * * * * *", "60 * * * *",
		"* 24 * * *",
		"* * 0 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *", "a * * * *", "0 0 30 2 *", "0 0 L * *", "H * * * *",
		"1- * * * *", "-1 * * * *",
	} {
		if _, err := schedule.ParseCron(text, time.UTC); !errors.Is(err, schedule.ErrCron) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// field is a cron field with its meaning, worked out beside its text.
type field struct {
	text    string
	set     [64]bool
	starred bool
}

func drawField(t *rapid.T, name string, low, high int) field {
	var f field
	if rapid.IntRange(0, 2).Draw(t, name+" star") == 0 {
		f.text, f.starred = "*", true
		f.add(low, high, 1)
		return f
	}
	var items []string
	for range rapid.IntRange(1, 3).Draw(t, name+" items") {
		from := rapid.IntRange(low, high).Draw(t, name+" from")
		to := rapid.IntRange(from, high).Draw(t, name+" to")
		step := rapid.IntRange(1, 12).Draw(t, name+" step")
		step = max(1, min(step, to-from, high-low-1)) // the parser refuses steps beyond their range
		switch rapid.IntRange(0, 3).Draw(t, name+" form") {
		case 0:
			items, to, step = append(items, fmt.Sprint(from)), from, 1
		case 1:
			items, step = append(items, fmt.Sprintf("%d-%d", from, to)), 1
		case 2:
			if to == from {
				items, step = append(items, fmt.Sprint(from)), 1
			} else {
				items = append(items, fmt.Sprintf("%d-%d/%d", from, to, step))
			}
		default:
			from, to, step = low, high, step+1
			items = append(items, fmt.Sprintf("*/%d", step))
		}
		f.add(from, to, step)
	}
	f.text = strings.Join(items, ",")
	return f
}

func (f *field) add(from, to, step int) {
	for i := from; i <= to; i += step {
		f.set[i] = true
	}
}

// scan finds the instants in [from, to) by looking at every minute: one counts when its
// reading matches and is later than every reading shown before it.
func scan(fields [5]field, in *time.Location, from, to time.Time) []time.Time {
	var found []time.Time
	shown := ""
	for at := from.Add(-26 * time.Hour); at.Before(to); at = at.Add(time.Minute) {
		wall := at.In(in)
		reading := wall.Format("2006-01-02T15:04")
		if reading <= shown {
			continue
		}
		shown = reading
		day, weekday := fields[2].set[wall.Day()], fields[4].set[int(wall.Weekday())]
		days := day && weekday
		if !fields[2].starred && !fields[4].starred {
			days = day || weekday
		}
		if !at.Before(from) && fields[0].set[wall.Minute()] && fields[1].set[wall.Hour()] &&
			fields[3].set[int(wall.Month())] && days {
			found = append(found, at)
		}
	}
	return found
}

func TestTimetableAgreesWithAScanOfEveryMinute(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo",
		"Africa/Cairo", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia"}
	starts := []string{"2026-03-20T00:00", "2026-10-20T00:00", "2018-10-31T00:00", "2018-02-14T00:00",
		"2026-04-20T00:00", "2011-12-26T00:00", "2026-04-01T00:00", "2024-02-25T00:00"}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(zones).Draw(t, "zone")
		in, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		fields := [5]field{drawField(t, "minute", 0, 59), drawField(t, "hour", 0, 23), drawField(t, "day", 1, 31),
			drawField(t, "month", 1, 12), drawField(t, "weekday", 0, 6)}
		texts := make([]string, len(fields))
		for i, f := range fields {
			texts[i] = f.text
		}
		expression := strings.Join(texts, " ")
		table, err := schedule.ParseCron(expression, in)
		if errors.Is(err, schedule.ErrCron) && strings.Contains(err.Error(), "no such day") {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		from, err := time.Parse("2006-01-02T15:04", rapid.SampledFrom(starts).Draw(t, "start"))
		if err != nil {
			t.Fatal(err)
		}
		to := from.Add(14 * 24 * time.Hour)
		var got []time.Time
		for at := table.Next(from.Add(-1)); !at.IsZero() && at.Before(to); at = table.Next(at) {
			got = append(got, at)
		}
		want := scan(fields, in, from, to)
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("%q in %s: %d instants, a scan finds %d\n%v\n%v", expression, name, len(got), len(want), got, want)
		}
		checkPrev(t, table, want, from, to)
	})
}

// checkPrev walks back through the instants of a scan, and looks back from anywhere between.
func checkPrev(t *rapid.T, table schedule.Timetable, want []time.Time, from, to time.Time) {
	at := to
	for i := len(want) - 1; i >= max(0, len(want)-500); i-- {
		if at = table.Prev(at); !at.Equal(want[i]) {
			t.Fatalf("walking back: %s, a scan finds %s", at, want[i])
		}
	}
	probe := from.Add(time.Duration(rapid.Int64Range(0, int64(to.Sub(from))).Draw(t, "probe")))
	n, _ := slices.BinarySearchFunc(want, probe, time.Time.Compare)
	if got := table.Prev(probe); n > 0 && !got.Equal(want[n-1]) || got.After(probe) {
		t.Fatalf("before %s: %s, want that before number %d of %d", probe, got, n, len(want))
	}
}

func FuzzParseCron(f *testing.F) {
	for _, text := range []string{"* * * * *", "15 2 1-7 */3 MON", "0 0 29 2 *", "22-2/2 * ? * 5-1", "@daily",
		"1,2,3 4/5 * * *"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := schedule.ParseCron(text, zone(t, "Europe/Berlin"))
		if err != nil {
			if !errors.Is(err, schedule.ErrCron) {
				t.Fatal(err)
			}
			return
		}
		at := time.Unix(1_790_000_000, 0)
		for range 5 {
			next := table.Next(at)
			if !next.After(at) || next.Second() != 0 {
				t.Fatalf("%q: %s after %s", text, next, at)
			}
			at = next
		}
	})
}
