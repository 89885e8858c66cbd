package web

import (
	"encoding/hex"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gram-compute/gram/report/style"
)

// moment writes a time in UTC, and "" for 0, which stands for a time that is not known.
func moment(unixMilli int64) string {
	if unixMilli == 0 {
		return ""
	}
	return time.UnixMilli(unixMilli).UTC().Format("2006-01-02 15:04:05 UTC")
}

// between writes how long it is from one time to another.
func between(from, to int64) string { return style.Clock(float64(to-from) / 1000) }

// ago writes how long it is since.
func ago(unixMilli int64) string {
	return style.Clock(time.Since(time.UnixMilli(unixMilli)).Truncate(time.Second).Seconds()) + " ago"
}

// size writes a number of bytes.
func size(bytes int64) string {
	value, unit := float64(bytes), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	return fmt.Sprintf("%.4g %s", value, units[unit])
}

// digest writes the beginning of a digest, by which people tell two apart.
func digest(sum []byte) string { return hex.EncodeToString(sum)[:min(12, 2*len(sum))] }

// oneLine is what an event may carry: a line end would end it. Templates have none that matters.
func oneLine(text string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
}

// exactWhole bounds the whole numbers that are written out.
const exactWhole = 1e15

// numeral writes whole numbers, such as counts, as they are, and others with six digits.
func numeral(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < exactWhole {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// ulps writes a count of floats: one of many digits only says that the values have little in common.
func ulps(n int64) string { return apart(float64(n)) }

// apart writes how many floats two values are apart, on average.
func apart(n float64) string {
	if n < 1e9 {
		return numeral(n)
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

// breaks lets a dotted name break behind its dots.
func breaks(name string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(name), ".", ".<wbr>"))
}

// day writes a time in UTC to the minute.
func day(unixMilli int64) string { return time.UnixMilli(unixMilli).UTC().Format("2006-01-02 15:04") }

// change writes how far a number went, with its sign.
func change(v *float64) string {
	switch {
	case v == nil:
		return ""
	case *v == 0:
		return "0"
	case *v == math.Trunc(*v) && math.Abs(*v) < exactWhole:
		return fmt.Sprintf("%+.0f", *v)
	}
	return fmt.Sprintf("%+.3g", *v)
}

// either writes a number where there is one, else a word.
func either(v *float64, word string) string {
	if v != nil {
		return numeral(*v)
	}
	if letters := []rune(word); len(letters) > longWord {
		return string(letters[:longWord]) + "…"
	}
	return word
}

// longWord is how many characters of a word stand beside numbers; a digest has more.
const longWord = 16
