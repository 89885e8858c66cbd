package supportvectormachine

import (
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/semidefinite"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// verdict is what is proved of a given matrix.
type verdict int32

const (
	verdictUntold   verdict = iota // nothing: it has more than semidefinite.MaxOrder columns
	verdictHolds                   // it is positive semidefinite
	verdictRounding                // it may be: rounding to float32 hides it
	verdictClipped                 // it is not, and its negative eigenvalues were set to 0
)

func (v verdict) String() string {
	return [...]string{"cannot be told", "positive semidefinite", "cannot be told, up to rounding", "clipped"}[v]
}

// given is a kernel whose values are given: column j of each record is its kernel with record j of spec.input, by
// ordinal. The matrix that a machine is trained on has float32 values; the
// certificate is about that matrix and what is added to its diagonal.
type given struct {
	columns  int
	verdict  verdict
	least    semidefinite.Least // of the matrix that was given
	added    float64            // what has to be added to the diagonal for the proof that no eigenvalue is below 0
	negative int64              // eigenvalues that were set to 0
	// coefficients are, of a clipped matrix, those of all columns in place of those of the support vectors: the
	// projection of them. A record that is predicted is projected by it (Chen and others, JMLR 10, 2009, section 2.2).
	coefficients []float64 // [machines x columns]
}

// Fields lists the kernel in a state or model of a number of machines.
func (g *given) Fields(f *jobs.Fields, columns, machines int) {
	jobs.Enum(f, matrixVerdict, &g.verdict, verdictUntold, verdictClipped)
	jobs.Tuple(f, "matrix.least", &g.least.Low, &g.least.High, &g.least.Rounding)
	jobs.Scalar(f, "matrix.added", &g.added)
	jobs.Scalar(f, "matrix.negative", &g.negative)
	g.columns = columns
	if f.Has("matrix.coefficients", g.coefficients != nil) {
		jobs.List(f, "matrix.coefficients", &g.coefficients, machines, columns)
	}
	f.Require(g.added >= 0 && g.added <= math.MaxFloat64 && g.negative >= 0 && jobs.Finite(g.coefficients) &&
		g.least.Low <= g.least.High && g.least.Rounding >= 0, "a matrix with the verdict %d, %+v, %v added", g.verdict,
		g.least, g.added)
}

// matrixVerdict is an array of a model with a given kernel, and of no other.
const matrixVerdict = "matrix.verdict"

// kernelFields lists the kernel, or what is known of the values that are given.
func (m *model) kernelFields(f *jobs.Fields) {
	if !f.Has(matrixVerdict, m.given != nil) {
		m.kernel.Fields(f, m.space)
		return
	}
	jobs.Make(f, &m.given).Fields(f, m.space.Width, m.classes().Machines())
}

// kernelText names the kernel.
func (m *model) kernelText() string {
	if m.given != nil {
		return kernels.Precomputed
	}
	return m.kernel.Text()
}

// rowWidth is how many values a support vector has in the model: none where they are columns of the records.
func (m *model) rowWidth() int {
	if m.given != nil {
		return 0
	}
	return m.space.Width
}

// says tells what is proved of the matrix.
func (g *given) says() string {
	interval := fmt.Sprintf("its least eigenvalue is from %.6g to %.6g", g.least.Low, g.least.High)
	switch g.verdict {
	case verdictHolds:
		if !g.looked() {
			return "positive semidefinite: no eigenvalue is below 0"
		}
		return "positive semidefinite: " + interval
	case verdictRounding:
		return fmt.Sprintf("cannot be told from a positive semidefinite one: %s, and rounding to float32 may have moved "+
			"it by %.3g; proved with %.3g added to the diagonal", interval, g.least.Rounding, g.added)
	case verdictClipped:
		return fmt.Sprintf("not positive semidefinite: %s; %d negative eigenvalues were set to 0; proved with %.3g "+
			"added to the diagonal", interval, g.negative, g.added)
	}
	return fmt.Sprintf("cannot be told to be positive semidefinite or not: it has %d columns, and eigenvalues are looked "+
		"for in up to %d", g.columns, semidefinite.MaxOrder)
}

// describe tells people what is known of the matrix.
func (g *given) describe(p *describe.Page) {
	p.Line("matrix", "%s", g.verdict)
	if g.looked() {
		p.Line("least", "eigenvalue from %.10g to %.10g", g.least.Low, g.least.High)
	}
	if g.added > 0 {
		p.Line("added", "%.3g to the diagonal, for the proof", g.added)
	}
}

// looked reports whether the least eigenvalue was looked for.
func (g *given) looked() bool { return g.verdict != verdictUntold && g.least.High != math.MaxFloat64 }

// facts are what is known of the matrix, for a report.
func (g *given) facts(facts *jobs.Facts) {
	facts.Add("svm.matrix", g.verdict.String())
	if g.looked() {
		facts.Add("svm.matrix.least_eigenvalue.from", g.least.Low)
		facts.Add("svm.matrix.least_eigenvalue.to", g.least.High)
	}
	facts.Add("svm.matrix.added", g.added)
}

// figure is what is known of the matrix, for a report.
func (g *given) figure() jobs.Figure {
	least := []string{"not looked for", "not looked for"}
	if g.looked() {
		least = []string{fmt.Sprintf("%.10g", g.least.Low), fmt.Sprintf("%.10g", g.least.High)}
	}
	table := &jobs.FigureTable{
		Columns: []string{"columns", "least eigenvalue from", "to", "rounding", "set to 0", "added to the diagonal"},
		Rows: [][]string{{fmt.Sprint(g.columns), least[0], least[1], fmt.Sprintf("%.3g", g.least.Rounding),
			fmt.Sprint(g.negative), fmt.Sprintf("%.3g", g.added)}}}
	return jobs.Figure{Title: "The matrix", Table: table,
		Caption: "The matrix of the training records is " + g.says() + "."}
}

// columnsOf sets dst to the values at columns of a row: its kernel with those records.
func columnsOf(dst []float64, row []float32, columns []int64) {
	for j, column := range columns {
		dst[j] = float64(row[column])
	}
}

// givenMatrix sets k to the kernel values of the rows of some variables among each other.
func (s *training) givenMatrix(k []float64, x kernelops.Matrix, variables []int64) {
	for i := range x.Rows {
		row := x.Row(i)
		for j, variable := range variables {
			k[i*x.Rows+j] = float64(row[s.record(variable)])
		}
	}
}

// givenAdder is adderOfMoves of a given kernel.
func (w *walk) givenAdder(g *group, m *moves) func(move) {
	width := w.space.Width
	w.k = kernelops.Resize(w.k, len(g.records))
	return func(t move) {
		column := int(w.training.rows.ordinal[m.records[t.place]])
		for i := range g.records {
			w.k[i] = float64(g.rows[i*width+column])
		}
		w.evaluator.Ops.AddScaled(w.sum, w.k, t.change)
	}
}

// givenValues sets the values to those of the support vectors of some terms with all records.
func (p *proofSums) givenValues(terms []proofTerm) {
	x, place, last := p.records.Rows(), -1, -1
	for _, t := range terms {
		if t.support == last {
			continue
		}
		place, last = place+1, t.support
		column := p.ordinal[t.support]
		for i := range x.Rows {
			p.values[place*x.Rows+i] = float64(x.Row(i)[column])
		}
	}
}

// lifted is the decision on a record, and its error, with what is added to the diagonal for the proof. The coefficient
// has its sign.
func (m *model) lifted(value, coefficient, off float64) (decision, bound float64) {
	if m.given == nil || m.given.added == 0 {
		return value, off
	}
	more := float64(m.given.added * coefficient)
	return value + more, off + float64(4*unit*(math.Abs(value)+math.Abs(more))) + math.SmallestNonzeroFloat64
}

// diagonal is at least a value of the diagonal and what is added to it.
func (g *given) diagonal(value float32) float64 {
	return max(0, float64((float64(value)+g.added)*(1+4*unit)))
}

// asTrained makes rows of a matrix that was clipped of those that were read.
func (w *walk) asTrained(x kernelops.Matrix, ordinal func(i int) int64) kernelops.Matrix {
	if w.clip == nil {
		return x
	}
	w.trained = kernelops.Resize(w.trained, x.Rows*x.Cols)
	y := matrixOf(w.trained, x.Rows, x.Cols)
	for i := range x.Rows {
		copy(y.Row(i), w.trainedRow(ordinal(i), x.Row(i)))
	}
	return y
}

// trainedRow is the row of a record as machines are trained on it.
func (s *training) trainedRow(ordinal int64, row []float32) []float32 {
	if s.clip == nil {
		return row
	}
	return s.clip.values[int(ordinal)*len(row) : (int(ordinal)+1)*len(row)]
}

// clip is, in a state, a matrix whose negative eigenvalues were set to 0, with the projection that did it. Those of
// records that are held out are 0.
type clip struct {
	values []float32 // [columns x columns]
	semidefinite.Projection
}

// Fields lists the matrix, of a number of columns.
func (c *clip) Fields(f *jobs.Fields, columns int) {
	jobs.List(f, clipValues, &c.values, columns, columns)
	jobs.List(f, "clip.onto", &c.Onto, -1, columns)
	jobs.Flag[int32](f, "clip.outside", &c.Outside)
}

// clipValues is an array of a state with a clipped matrix.
const clipValues = "clip.values"

// fold makes the coefficients of all columns of a clipped matrix.
func (s *training) fold() {
	if s.clip == nil {
		return
	}
	g, n := *s.given, s.space.Width
	g.coefficients = make([]float64, 0, len(s.bias)*n)
	for machine := range s.bias {
		x := make([]float64, n)
		for j := range s.len() {
			for _, t := range s.termsOf(j) {
				if t.machine == machine {
					x[s.ordinal[j]] = t.alpha
				}
			}
		}
		g.coefficients = append(g.coefficients, s.clip.Apply(x, kernelops.Best())...) // the same with each set
	}
	s.given = &g
}

// termsOf are where the coefficients of a support vector count.
func (m *model) termsOf(j int) []machineTerm {
	if m.regresses {
		return []machineTerm{{0, m.alpha[j]}}
	}
	var list []machineTerm
	classes := m.classes()
	for slot := range classes.Slots() {
		if alpha := m.alpha[j*classes.Slots()+slot]; alpha != 0 {
			machine, side := classes.At(int(m.class[j]), slot)
			list = append(list, machineTerm{machine, float64(side * alpha)})
		}
	}
	return list
}

// givenTerms are the columns that a prediction takes, and where they count.
func (p *predictor) givenTerms() {
	if p.given.coefficients == nil {
		p.columns = p.ordinal
		return
	}
	n := p.space.Width
	p.terms, p.starts = nil, nil
	for column := range n {
		p.columns, p.starts = append(p.columns, int64(column)), append(p.starts, len(p.terms))
		for machine := range p.bias {
			if a := p.given.coefficients[machine*n+column]; a != 0 {
				p.terms = append(p.terms, machineTerm{machine, a})
			}
		}
	}
	p.starts = append(p.starts, len(p.terms))
}

// checkGiven refuses support vectors that the matrix has no column of.
func (m *model) checkGiven() error {
	if m.given != nil && m.len() > 0 && (m.ordinal[0] < 0 || slices.Max(m.ordinal) >= int64(m.space.Width)) {
		return jobs.Malformed("a support vector is record %d, of a matrix of %d columns", slices.Max(m.ordinal),
			m.space.Width)
	}
	return nil
}

// checkPrecomputed rejects what a given kernel does not take, and what no other takes.
func (p Params) checkPrecomputed() error {
	switch {
	case p.Clip && !p.Given():
		return protocol.SpecFault("clip is of kernel %s, not of %s", kernels.Precomputed, p.Kernel)
	case p.Given() && p.Features.Scale != features.ScaleNone:
		return protocol.SpecFault("features.scale is of vectors; with kernel %s the columns are kernel values, which stay "+
			"as they are", kernels.Precomputed).
			WithHint("Leave features.scale out, and scale the vectors before their kernel is computed.")
	case p.Given() && p.Features.Hashing != nil:
		return protocol.SpecFault("features.hashing is of texts; with kernel %s a record is its kernel values",
			kernels.Precomputed)
	case p.Given() && p.Features.TFIDF != nil:
		return protocol.SpecFault("features.tfidf is of counts; with kernel %s a record is its kernel values",
			kernels.Precomputed)
	}
	return nil
}
