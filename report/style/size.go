package style

import (
	"fmt"
	"strconv"
)

// Size writes a number of bytes: 512 B, 3.282 MiB.
func Size(bytes int64) string {
	value, unit := float64(bytes), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	return fmt.Sprintf("%.4g %s", value, units[unit])
}

// Count writes a whole number with its digits in groups of three: 3,441,050.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	first, sign := digits, ""
	if n < 0 {
		first, sign = digits[1:], "-"
	}
	var groups string
	for len(first) > 3 {
		groups = "," + first[len(first)-3:] + groups
		first = first[:len(first)-3]
	}
	return sign + first + groups
}
