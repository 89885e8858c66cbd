package protocol

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Retention is how long something is kept, in milliseconds. It is read from a text such as "720h", "30d" or
// "forever", and written in the largest of h, m, s and ms that keeps it whole.
type Retention int64

// Forever is kept until somebody takes it away.
const Forever Retention = -1

// maxRetention is a century. For more there is Forever.
const maxRetention = 100 * 365 * 24 * time.Hour

// ParseRetention reads a retention. The empty text is an error.
func ParseRetention(text string) (Retention, error) {
	if text == "forever" {
		return Forever, nil
	}
	span, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		if n, err = strconv.ParseUint(days, 10, 16); err == nil {
			span = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil || span <= 0 || span > maxRetention || span%time.Millisecond != 0 {
		return 0, fmt.Errorf("a retention is a time such as 720h, 30d or 90m, or forever; not %.40q", text)
	}
	return Retention(span.Milliseconds()), nil
}

// UnmarshalJSON reads a text.
func (r *Retention) UnmarshalJSON(data []byte) (err error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("a retention is a text such as \"720h\", \"30d\" or \"forever\", not %.40s", data)
	}
	*r, err = ParseRetention(text)
	return err
}

// MarshalJSON writes the text.
func (r Retention) MarshalJSON() ([]byte, error) { return json.Marshal(r.String()) }

func (r Retention) String() string {
	if r < 0 {
		return "forever"
	}
	for _, unit := range []struct {
		name string
		ms   int64
	}{{"h", 3600_000}, {"m", 60_000}, {"s", 1000}} {
		if int64(r)%unit.ms == 0 {
			return strconv.FormatInt(int64(r)/unit.ms, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(r), 10) + "ms"
}
