package kernelperceptron

import (
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/protocol"
)

// maxShown bounds the epochs and support vectors that describe lists.
const maxShown = 20

// describe tells of the kernel, the training, the classes and the support vectors of largest weight.
func (m *model) describe(p *describe.Page) error {
	p.Text("Kernel perceptron, %s: %d classes of vectors with %s\n", m.form, m.space.Labels.Len(),
		protocol.Counted(m.space.Width, "column"))
	p.Text("kernel: %s\n\n", m.kernel.Text())
	p.Text("%s of %s; %s in %s:", protocol.Counted(m.supports(), "support vector"),
		protocol.Counted(m.space.Records, "training record"), protocol.Counted(m.total(), "mistake"),
		protocol.Counted(len(m.mistakes), "epoch"))
	for _, n := range m.mistakes[:min(len(m.mistakes), maxShown)] {
		p.Text(" %d", n)
	}
	p.Text("\n")
	switch {
	case m.dropped > 0 && m.form == formPlain:
		p.Text("%s %s dropped\n", protocol.Counted(m.dropped, "support vector"), protocol.Were(m.dropped))
	case m.dropped > 0:
		p.Text("%s a support vector was dropped; here it counts for the records it lived\n",
			protocol.Counted(m.dropped, "time"))
	}
	m.reject.Describe(p)
	m.describeMargin(p)
	m.describeClasses(p)
	p.Text("\n%-24s %12s  %s\n", "largest support vectors", "|alpha|", "record")
	for _, i := range m.largest(maxShown) {
		p.Text("%-24.24s %12.6g  %s\n", m.space.Labels.At(int(m.class[i])), math.Sqrt(m.size(i)), m.record(i))
	}
	return nil
}

// record names the record of a support vector: by its number in the data set, from 0, or in models of earlier releases
// by its place in an object.
func (m *model) record(i int) string {
	switch {
	case m.named != nil:
		return fmt.Sprintf("%q at %d", m.named[i].Object, m.named[i].Offset)
	case m.of[i] < 0:
		return "a correction"
	}
	return fmt.Sprint(m.of[i])
}

func (m *model) describeMargin(p *describe.Page) {
	p.Text("R = %.6g", math.Sqrt(max(0, m.radius)))
	if m.margin == m.margin {
		p.Text("; the last epoch made no mistake: margin %.6g", m.margin)
	}
	if m.bound == m.bound {
		p.Text(", Novikoff's bound %.6g mistakes", m.bound)
	}
	p.Text("\n")
}

func (m *model) describeClasses(p *describe.Page) {
	supports := make([]int, m.space.Labels.Len())
	for _, y := range m.class {
		supports[y]++
	}
	p.Text("\n%-24s %15s %12s\n", "class", "support vectors", "b")
	p.Table(m.space.Labels.List(), func(y int) string {
		offset := m.b[0]
		switch {
		case len(m.b) > 1:
			offset = m.b[y]
		case y == 0:
			offset = -offset
		}
		return fmt.Sprintf("%15d %12.6g", supports[y], offset)
	})
}

// size is the sum of alpha^2 of a support vector.
func (m *machine) size(place int) (sum float64) {
	for _, a := range m.alpha[place*m.columns() : (place+1)*m.columns()] {
		sum += float64(a * a)
	}
	return sum
}

// largest lists the places of up to n support vectors, largest first.
func (m *machine) largest(n int) []int {
	places := rank.Greatest(m.supports(), m.size)
	return places[:min(n, len(places))]
}

// maxImages bounds the support vectors shown as pictures.
const maxImages = 48

// figures are the mistakes of each epoch, the support vectors of largest weight as pictures where their
// width is a square, and the evaluation.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	mistakes := jobs.Figure{Title: "Mistakes by epoch", Lines: &jobs.LineChart{X: "epoch", Y: "training records decided wrong",
		Series: []jobs.Series{jobs.SeriesOf("mistakes", m.mistakes)}}}
	largest := m.largest(maxImages)
	label := func(i int) string {
		return fmt.Sprintf("%.24s (%.3g)", m.space.Labels.At(int(m.class[largest[i]])), math.Sqrt(m.size(largest[i])))
	}
	supports := jobs.Pictures("Support vectors of largest weight",
		"Each with its label and the length of its coefficients.", m.space.Width, len(largest), label,
		func(i int) []float32 { return m.matrix().Row(largest[i]) })
	judged, err := evaluation.Figures(nil, metrics)
	return slices.Concat([]jobs.Figure{mistakes}, supports, judged), err
}
