package web

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// series is a number that rounds found, by round.
type series struct {
	Name   string
	Rounds []uint32
	Values []float64
}

// Last is the newest value.
func (s series) Last() float64 { return s.Values[len(s.Values)-1] }

// curve is a picture of the series that measure the same.
type curve struct {
	Measure string
	Series  []series
	More    int // series that are not drawn
	Picture template.HTML
}

// What is shown of the curves.
const (
	mostCurves = 2
	mostSeries = 6 // of one picture
)

// telling are the measures that show how a job gets on, the best first. Others come after them.
var telling = []string{"distortion", "inertia", "objective", "primal", "mistakes", "errors", "gap", "violation",
	"moved"}

// counter is the part of a metric's name that counts rounds, epochs or passes.
var counter = regexp.MustCompile(`\.\d{3,}\.`)

// wanted are the first of the rounds that the curves show and that were not asked for.
func (k *shown) wanted(most int) (rounds []uint32) {
	all := k.Job.GetRounds()
	for _, i := range spread(len(all), roundsOfCurve) {
		if _, known := k.found[all[i].GetRound()]; !known && all[i].GetMetrics() != nil && len(rounds) < most {
			rounds = append(rounds, all[i].GetRound())
		}
	}
	return rounds
}

// spread are at most n of the indexes below all: the last, and others at even steps that stay the same while the list
// grows, until the step doubles.
func spread(all, n int) (indexes []int) {
	step := 1
	for all > n*step {
		step *= 2
	}
	for i := 0; i < all-1; i += step {
		indexes = append(indexes, i)
	}
	if all > 0 {
		indexes = append(indexes, all-1)
	}
	return indexes
}

// Curves are what the rounds found so far, of what tells most.
func (k *shown) Curves() (curves []curve) {
	places := make(map[string]int) // what a worker found may have as many measures as numbers
	for _, s := range k.series() {
		measure := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
		at, known := places[measure]
		if !known {
			at, curves = len(curves), append(curves, curve{Measure: measure})
			places[measure] = at
		}
		curves[at].Series = append(curves[at].Series, s)
	}
	rank := func(c curve) int {
		if at := slices.Index(telling, c.Measure); at >= 0 {
			return at
		}
		return len(telling)
	}
	slices.SortStableFunc(curves, func(a, b curve) int { return rank(a) - rank(b) })
	curves = curves[:min(len(curves), mostCurves)]
	for i := range curves {
		all := curves[i].Series
		curves[i].Series = all[:min(len(all), mostSeries)]
		curves[i].More = len(all) - len(curves[i].Series)
		curves[i].Picture = drawCurve(curves[i])
	}
	return curves
}

// series are the metrics that two rounds or more found and that differ, in the order in which they were found first. A
// metric whose name counts is one series, unless a round found several of them.
func (k *shown) series() (all []series) {
	places := make(map[string]int)
	for _, r := range k.Job.GetRounds() {
		found := k.found[r.GetRound()].GetMetrics()
		names := seriesNames(found)
		for i, m := range found {
			at, known := places[names[i]]
			if !known {
				at, all = len(all), append(all, series{Name: names[i]})
				places[names[i]] = at
			}
			s := &all[at]
			s.Rounds, s.Values = append(s.Rounds, r.GetRound()), append(s.Values, m.GetValue())
		}
	}
	return slices.DeleteFunc(all, func(s series) bool {
		return len(s.Values) < 2 || slices.Min(s.Values) == slices.Max(s.Values)
	})
}

// seriesNames are the names of a round's metrics without what counts in them, where no other has that name then. It
// takes time by their number, not by its square: a worker may name some hundred thousand.
func seriesNames(round []*pb.RoundMetric) []string {
	names, same := make([]string, len(round)), make(map[string]int)
	for i, m := range round {
		names[i] = counter.ReplaceAllString(m.GetName(), ".")
		same[names[i]]++
	}
	for i, m := range round {
		if same[names[i]] > 1 {
			names[i] = m.GetName()
		}
	}
	return names
}

// The measures of a curve's picture.
const (
	curveWidth, curveHeight = 720.0, 220.0
	curveLeft, curveRight   = 90.0, 700.0
	curveTop, curveBottom   = 12.0, 184.0
)

// drawCurve draws the series of a measure over the rounds. Its axis reaches from the least to the largest value.
func drawCurve(c curve) template.HTML {
	low, high := math.Inf(1), math.Inf(-1)
	first, last := uint32(math.MaxUint32), uint32(0)
	for _, s := range c.present() {
		low, high = min(low, slices.Min(s.Values)), max(high, slices.Max(s.Values))
		first, last = min(first, s.Rounds[0]), max(last, s.Rounds[len(s.Rounds)-1])
	}
	x := func(round uint32) float64 {
		return curveLeft + (curveRight-curveLeft)*float64(round-first)/float64(max(1, last-first))
	}
	y := func(v float64) float64 { return curveBottom - (curveBottom-curveTop)*share(v, low, high) }
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg class="curve" viewBox="0 0 %s %s" role="img" aria-label="%s">`, short(curveWidth),
		short(curveHeight), template.HTMLEscapeString(c.text()))
	for _, v := range []float64{low, high} {
		fmt.Fprintf(&svg, `<line class="grid" x1="%s" x2="%s" y1="%[3]s" y2="%[3]s"/>`, short(curveLeft),
			short(curveRight), short(y(v)))
		fmt.Fprintf(&svg, `<text class="faint" x="%s" y="%s" text-anchor="end">%s</text>`, short(curveLeft-8),
			short(y(v)+4), number(v))
	}
	for _, round := range []uint32{first, last} {
		fmt.Fprintf(&svg, `<text class="faint" x="%s" y="%s" text-anchor="middle">%d</text>`, short(x(round)),
			short(curveBottom+20), round)
	}
	fmt.Fprintf(&svg, `<text class="faint" x="%s" y="%s" text-anchor="middle">round</text>`,
		short((curveLeft+curveRight)/2), short(curveBottom+20))
	for i, s := range c.Series {
		points := make([]string, len(s.Values))
		for j, v := range s.Values {
			points[j] = short(x(s.Rounds[j])) + "," + short(y(v))
		}
		if len(points) == 1 {
			points = append(points, points[0]) // a dot, by the round ends of its line
		}
		fmt.Fprintf(&svg, `<polyline class="line s%d" points="%s"/>`, i, strings.Join(points, " "))
	}
	svg.WriteString("</svg>")
	return template.HTML(svg.String()) // our own, its texts escaped
}

// present are the series that have a value.
func (c curve) present() []series {
	return slices.DeleteFunc(slices.Clone(c.Series), func(s series) bool { return len(s.Values) == 0 })
}

// text is what the picture shows, for those who do not see it.
func (c curve) text() string {
	var parts []string
	for _, s := range c.present() {
		parts = append(parts, fmt.Sprintf("%s from %s in round %d to %s in round %d", s.Name, number(s.Values[0]),
			s.Rounds[0], number(s.Last()), s.Rounds[len(s.Rounds)-1]))
	}
	return strings.Join(parts, "; ")
}

// share is where a value lies between two others, from 0 to 1. Their difference may not be a number.
func share(v, low, high float64) float64 {
	if !(high/2 > low/2) {
		return 0.5
	}
	return (v/2 - low/2) / (high/2 - low/2)
}

// number writes a value with five significant digits: 6186500 is 6.1865 M.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return count(int64(v)) //lint:checked below 1e6
	}
	for i, unit := range []string{" M", " G", " T"} {
		if low := math.Pow(1000, float64(i+2)); math.Abs(v) >= low && math.Abs(v) < 1000*low {
			return strconv.FormatFloat(v/low, 'g', 5, 64) + unit
		}
	}
	if size := math.Abs(v); size >= 1e4 && size < 1e6 {
		return count(int64(math.RoundToEven(v))) //lint:checked below 1e6
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}
