package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxColumn bounds a column's number: canonical JSON keeps integers to 2^53 only,
// and no line has a million fields.
const maxColumn = 1 << 20

// Column picks a field of a delimited record: a number counted from 1, or a name
// of the header line. The zero value picks nothing.
type Column struct {
	Number int
	Name   string
}

// IsZero reports whether c picks nothing.
func (c Column) IsZero() bool { return c == Column{} }

func (c Column) String() string {
	if c.Name != "" {
		return strconv.Quote(c.Name)
	}
	return strconv.Itoa(c.Number)
}

// MarshalJSON writes the number, the name, or null.
func (c Column) MarshalJSON() ([]byte, error) {
	switch {
	case c.Name != "":
		return json.Marshal(c.Name)
	case c.Number != 0:
		return json.Marshal(c.Number)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads a number from 1, a non-empty name, or null.
func (c *Column) UnmarshalJSON(data []byte) error {
	*c = Column{}
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	if data[0] == '"' {
		if err := json.Unmarshal(data, &c.Name); err != nil {
			return err
		}
		if c.Name == "" {
			return fmt.Errorf("a column name must not be empty")
		}
		return nil
	}
	if err := json.Unmarshal(data, &c.Number); err != nil || c.Number < 1 || c.Number > maxColumn {
		return fmt.Errorf("a column is a number from 1 to %d or a name, not %.40s", maxColumn, data)
	}
	return nil
}

// ByteSize is a number of bytes. It is read from an integer or a string such as
// "512KiB", and written as an integer.
type ByteSize int64

var byteUnits = []struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// ParseByteSize reads "524288", "512KiB", "1.5GiB" or "2 MB".
func ParseByteSize(s string) (ByteSize, error) {
	number, factor := strings.TrimSpace(s), int64(1)
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	if whole, err := strconv.ParseInt(number, 10, 64); err == nil && whole >= 0 && whole <= math.MaxInt64/factor {
		return ByteSize(whole * factor), nil
	}
	part, err := strconv.ParseFloat(number, 64)
	if err != nil || !(part >= 0) || part >= float64(math.MaxInt64/factor) {
		return 0, fmt.Errorf("a size is a count of bytes such as 524288, 512KiB or 1.5GiB, not %q", s)
	}
	return ByteSize(part * float64(factor)), nil
}

// UnmarshalJSON reads an integer or a string with a unit.
func (b *ByteSize) UnmarshalJSON(data []byte) error {
	text := string(data)
	if data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	size, err := ParseByteSize(text)
	if err == nil && size > 1<<53 { // canonical JSON keeps integers to 2^53
		err = fmt.Errorf("a size is at most 2^53 bytes, not %.40s", text)
	}
	*b = size
	return err
}

// String writes the size in the largest binary unit that keeps it whole.
func (b ByteSize) String() string {
	for _, u := range []int{3, 2, 1, 0} {
		if unit := byteUnits[u]; b != 0 && int64(b)%unit.factor == 0 {
			return strconv.FormatInt(int64(b)/unit.factor, 10) + unit.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// SameColumns reports whether two lists of columns may be the same columns of two data sets: names are equal, and
// numbers, which may be others where a data set lacks a column, ascend alike.
func SameColumns(a, b []Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name {
			return false
		}
		for j := range i {
			if a[i].Name == "" && a[j].Name == "" && (a[i].Number < a[j].Number) != (b[i].Number < b[j].Number) {
				return false
			}
		}
	}
	return true
}
