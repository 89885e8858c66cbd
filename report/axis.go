package report

import (
	"math"
	"strconv"
	"strings"
)

// axis maps values to pixels.
type axis struct{ low, high, from, to float64 }

func (a axis) at(v float64) float64 {
	if a.high == a.low {
		return (a.from + a.to) / 2
	}
	return a.from + (a.to-a.from)*(v-a.low)/(a.high-a.low)
}

// ticks are multiples of 1, 2 or 5 times a power of ten within the axis, at most seven.
func (a axis) ticks() []float64 {
	span := a.high - a.low
	if !(span > 0) || span > math.MaxFloat64 {
		return []float64{a.low}
	}
	power := math.Pow(10, math.Floor(math.Log10(span))-1)
	for i := 0; ; i++ {
		step := power * []float64{1, 2, 5}[i%3] * math.Pow(10, float64(i/3))
		if span/step > 6 {
			continue
		}
		var at []float64
		first := math.Ceil(a.low/step - 1e-9)
		for n := range 8 { // counted, for beyond 2^53 a number plus 1 is itself
			v := float64((first+float64(n))*step) + 0 // no -0
			if v <= a.high+step/1e9 && (len(at) == 0 || v > at[len(at)-1]) {
				at = append(at, v)
			}
		}
		return at
	}
}

// scale is an axis of a chart. A logarithmic one spans decimal logarithms.
type scale struct {
	axis
	log   bool
	whole bool // there is no tick at a fraction, as there is no round 1.5
}

func (s scale) at(v float64) float64 {
	if s.log {
		v = math.Log10(v)
	}
	return s.axis.at(v)
}

// mostDrawn bounds what is drawn: an axis multiplies differences of values by pixels.
const mostDrawn = 1e300

// drawable reports whether a value can have a place on an axis.
func drawable(v float64) bool { return math.Abs(v) <= mostDrawn }

// shows reports whether a value is on the scale.
func (s scale) shows(v float64) bool { return drawable(v) && (!s.log || v > 0) }

// ticks are values with their texts.
func (s scale) ticks() (at []float64, texts []string) {
	if s.log {
		return s.powers()
	}
	for _, v := range s.axis.ticks() {
		if !s.whole || v == math.Trunc(v) {
			at = append(at, v)
		}
	}
	return at, tickTexts(at)
}

// powers are powers of ten, at most seven of equal distances.
func (s scale) powers() (at []float64, texts []string) {
	first, last := int(math.Ceil(s.low-1e-9)), int(math.Floor(s.high+1e-9))
	for n := first; n <= last; n += 1 + (last-first)/7 {
		v := math.Pow(10, float64(n))
		at, texts = append(at, v), append(texts, brief(v))
	}
	return at, texts
}

// units are the names of large powers of ten, largest first.
var units = []struct {
	least, size float64
	name        string
}{{1e12, 1e12, " T"}, {1e9, 1e9, " G"}, {1e6, 1e6, " M"}, {1e4, 1e3, " k"}, {0, 1, ""}}

// unitOf is the unit that numbers up to most are written in.
func unitOf(most float64) (size float64, name string) {
	for _, u := range units {
		if most >= u.least {
			return u.size, u.name
		}
	}
	return 1, ""
}

// tickTexts writes ascending numbers of equal distances in one unit, with the decimals that tell them apart: 0.8 M,
// 0.9 M, 1.0 M.
func tickTexts(at []float64) []string {
	most := 0.0
	for _, v := range at {
		most = max(most, math.Abs(v))
	}
	texts := make([]string, len(at))
	if len(at) < 2 || most < 1e-3 || most >= 1e15 {
		for i, v := range at {
			texts[i] = brief(v)
		}
		return texts
	}
	size, name := unitOf(most)
	decimals := 0
	for step := (at[1] - at[0]) / size; decimals < 12 && math.Abs(step-math.Round(step)) > 1e-6*step; step *= 10 {
		decimals++
	}
	for i, v := range at {
		if math.Abs(v) < (at[1]-at[0])/1e6 {
			texts[i] = "0"
			continue
		}
		texts[i] = strconv.FormatFloat(v/size, 'f', decimals, 64) + name
	}
	return texts
}

// brief writes a number with three significant digits and its unit: 2.5 M, 0.25, 1e-6.
func brief(v float64) string {
	a := math.Abs(v)
	if v == 0 {
		return "0" // of -0, too
	}
	if a < 1e-3 || a >= 1e15 {
		text := strconv.FormatFloat(v, 'g', 3, 64)
		text = strings.Replace(text, "e-0", "e-", 1)
		return strings.Replace(strings.Replace(text, "e+0", "e", 1), "e+", "e", 1)
	}
	size, name := unitOf(a)
	v /= size
	if a = math.Abs(v); a >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64) + name
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + name
}
