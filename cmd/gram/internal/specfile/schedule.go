package specfile

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gram-compute/gram/protocol"
)

// Schedule is the section schedule of a spec file: when its job is made, again and again.
type Schedule struct {
	Cron          string   `json:"cron"`           // minute, hour, day of month, month, day of week
	TimeZone      string   `json:"time_zone"`      // an IANA name; UTC
	Overlap       string   `json:"overlap"`        // allow, forbid, replace or queue; forbid
	CatchUp       CatchUp  `json:"catch_up"`       // none, latest or all; latest
	StartDeadline Duration `json:"start_deadline"` // none
	Jitter        Duration `json:"jitter"`         // none
}

// CatchUp is a word, or an object with the word as mode and, of all, how many at most.
type CatchUp struct {
	Mode string `json:"mode"`
	Max  uint32 `json:"max"`
}

// UnmarshalJSON reads "latest" or {"mode": "all", "max": 7}.
func (c *CatchUp) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.Mode) == nil {
		return nil
	}
	type plain CatchUp
	var both plain
	if err := protocol.StrictDecode(data, &both); err != nil {
		return fmt.Errorf("catch_up is a word, or an object such as {mode: all, max: 7}")
	}
	*c = CatchUp(both)
	return nil
}

// Duration is read from a text such as "90s" or "6h".
type Duration time.Duration

// UnmarshalJSON reads a text; a bare number has no unit.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("a time is a text such as \"90s\" or \"6h\", not %.40s", data)
	}
	span, err := time.ParseDuration(text)
	if err != nil || span < 0 || span%time.Millisecond != 0 {
		return fmt.Errorf("a time is a text such as \"90s\" or \"6h\", not %.40q", text)
	}
	*d = Duration(span)
	return nil
}

// cutSchedule takes the section out of a document; nil when there is none.
func cutSchedule(document []byte) (rest, section []byte, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(document, &fields); err != nil || fields == nil {
		return nil, nil, protocol.SpecFault("a spec is an object")
	}
	section, found := fields["schedule"]
	if !found {
		return document, nil, nil
	}
	delete(fields, "schedule")
	rest, err = json.Marshal(fields)
	return rest, section, err
}
