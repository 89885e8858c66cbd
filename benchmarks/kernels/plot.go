package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/internal/measure"
)

// The plot's size and the frame of its axes, in pixels.
const (
	plotWidth, plotHeight = 760, 460
	left, right           = 60, 610
	top, bottom           = 50, 380
)

// line is a contender's rates by dimension, or a limit's.
type line struct {
	name, color string
	dims        []int
	rates       []float64
	flat        bool
}

// plotted are the contenders of the plot. The colors differ to the color-blind, too.
var plotted = []line{
	{name: "gram avx512", color: "#0072b2"},
	{name: "gram avx2", color: "#009e73"},
	{name: "openblas", color: "#d55e00"},
	{name: "peak avx512", color: "#555555", flat: true},
	{name: "peak avx2", color: "#999999", flat: true},
}

// plot draws GFLOP/s of X·Yᵀ on one core against the dimension, as SVG.
func (p *page) plot() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	text(&b, left, 24, "start", "#111", "X·Yᵀ of 4096 x 4096 rows, one core: GFLOP/s against the dimension")
	lines := p.lines()
	ceiling := 10.0
	for _, l := range lines {
		ceiling = max(ceiling, slices.Max(l.rates))
	}
	step := tick(ceiling)
	ceiling = step * math.Ceil(ceiling*1.02/step)
	y := func(rate float64) float64 { return bottom - (bottom-top)*rate/ceiling }
	axes(&b, step, ceiling, y)
	for _, l := range lines {
		l.draw(&b, y)
	}
	names(&b, lines, y)
	text(&b, left, plotHeight-12, "start", "#555",
		fmt.Sprintf("%s, %s, commit %s", p.Machine.CPU, p.Machine.Go, p.Machine.Commit))
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// lines collects the medians of the sweep; a flat line is the median of its medians.
func (p *page) lines() []line {
	var all []line
	for _, l := range plotted {
		for _, r := range p.Workloads {
			operation, sizes, _ := strings.Cut(r.ID, "/")
			if operation != "xyt" || r.Threads > 1 {
				continue
			}
			d, err := strconv.Atoi(sizes[strings.LastIndex(sizes, "x")+1:])
			i := slices.IndexFunc(r.Entries, func(e entryRecord) bool { return e.Name == l.name })
			if err == nil && i >= 0 {
				l.dims, l.rates = append(l.dims, d), append(l.rates, r.Entries[i].Rate.Median)
			}
		}
		if l.flat && len(l.rates) > 0 {
			middle := measure.SpreadOf(l.rates).Median
			l.dims, l.rates = []int{sweep[0], sweep[len(sweep)-1]}, []float64{middle, middle}
		}
		if len(l.rates) > 0 {
			all = append(all, l)
		}
	}
	return all
}

// x is the place of a dimension: a doubling is everywhere as wide.
func x(d int) float64 {
	first, last := math.Log2(float64(sweep[0])), math.Log2(float64(sweep[len(sweep)-1]))
	return left + 12 + (right-left-24)*(math.Log2(float64(d))-first)/(last-first)
}

// tick is the distance of the grid's lines: 1, 2 or 5 times a power of ten, at most 8 of them.
func tick(most float64) float64 {
	for power := 1.0; ; power *= 10 {
		for _, digit := range []float64{1, 2, 5} {
			if most/(digit*power) <= 8 {
				return digit * power
			}
		}
	}
}

func axes(b *bytes.Buffer, step, ceiling float64, y func(float64) float64) {
	for rate := 0.0; rate <= ceiling; rate += step {
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", left, right, y(rate), y(rate))
		text(b, left-8, y(rate)+4, "end", "#555", fmt.Sprint(rate))
	}
	for _, d := range sweep {
		anchor := "middle"
		if d == 784 { // close to 1024
			anchor = "end"
		}
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#555"/>`+"\n", x(d), x(d), bottom, bottom+5)
		text(b, x(d), bottom+20, anchor, "#555", strconv.Itoa(d))
	}
	text(b, (left+right)/2, bottom+38, "middle", "#555", "dimension d")
}

// draw adds the line, with a point at every rate that was measured.
func (l line) draw(b *bytes.Buffer, y func(float64) float64) {
	var at []string
	for i, d := range l.dims {
		at = append(at, fmt.Sprintf("%.1f,%.1f", x(d), y(l.rates[i])))
		if !l.flat {
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(d), y(l.rates[i]), l.color)
		}
	}
	dash := ""
	if l.flat {
		dash = ` stroke-dasharray="6 4"`
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(at, " "),
		l.color, dash)
}

func (l line) last() float64 { return l.rates[len(l.rates)-1] }

// names writes every line's name at its end, moved down where another name is.
func names(b *bytes.Buffer, lines []line, y func(float64) float64) {
	byHeight := slices.SortedFunc(slices.Values(lines), func(a, b line) int { return cmp.Compare(b.last(), a.last()) })
	const height = 16
	above := 0.0
	for _, l := range byHeight {
		above = max(above+height, y(l.last())+4)
		text(b, right+8, above, "start", l.color, fmt.Sprintf("%s, %s", l.name, measure.Digits(l.last())))
	}
}

func text(b *bytes.Buffer, x, y float64, anchor, color, words string) {
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(words)
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, color, escaped)
}
