package features

import (
	"math/big"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/protocol"
)

// Growth is what a space of dense vectors was computed from, beside what the space has itself. A job that goes on from
// a model which keeps it finds, to the bit, the space of a job over the records of both, however they are cut.
type Growth struct {
	moments *sums.Moments // of one class: each record counts once, whatever it weighs
	missing []int64       // of each column, where missing numbers are left out; else nil
}

// Grows keeps the growth of the space.
func Grows() Option { return func(b *Builder) { b.grows = true } }

// After counts the training records on from those of a model, which is the job's first state. read returns what it
// keeps.
func After(read func(model jobs.Arrays) (*Space, *Growth, error)) Option {
	return func(b *Builder) { b.after = read }
}

// Growth returns what was kept with Grows; nil otherwise.
func (s *Space) Growth() *Growth { return s.growth }

// CheckGrows refuses parameters by which vectors depend on all records: those of a later job would be other vectors.
// why is the parameter that wants them to stay.
func (p *Params) CheckGrows(why string) error {
	switch {
	case p.Scale != ScaleNone && p.Scale != ScaleL2:
		return protocol.SpecFault("%s needs features.scale none or l2; %s depends on all training records, to which a later "+
			"job adds", why, p.Scale).
			WithHint("Leave features.scale out, or train on all records at once.")
	case p.Missing.Missing == missingMean || p.Missing.Missing == missingIndicator:
		return protocol.SpecFault("%s needs features.missing error, constant or omit; %s puts in means of all training "+
			"records, to which a later job adds", why, p.Missing.Missing).
			WithHint("Set features.missing to omit or constant, or train on all records at once.")
	case p.Categories != nil:
		return protocol.SpecFault("%s takes no features.categories: the next job may have others", why).
			WithHint("Train on all records at once.")
	}
	return nil
}

// growth is that of a space of dense vectors.
func (b *Builder) growth(s *Space, c columns, gone *absence) *Growth {
	g := &Growth{moments: c.moments}
	if s.omits {
		g.missing = gone.count
	}
	return g
}

// with returns the counts of a job's records and of those of the model that it goes on from, if there is one.
func (b *Builder) with(model jobs.Arrays, root *Counts) (*Counts, error) {
	if b.after == nil {
		return root, nil
	}
	s, g, err := b.readGrown(model)
	if err != nil {
		return nil, err
	}
	if want := s.shape(); root.records > 0 && root.shape != want {
		return nil, protocol.SpecFault("the training records are %v, and those of the model of spec.model %v",
			root.shape, want).WithHint("Name the columns of that model, in its order, in spec.input.features, or leave spec.model out.")
	}
	before := &Counts{builder: b, shape: s.shape(), records: s.Records, columns: columns{g.moments, s.Min, s.Max},
		labels: vocabulary.Table{Keys: s.Labels, Columns: [][]int64{s.ClassRecords}}}
	if s.omits {
		before.gone = &absence{g.missing, s.Min, s.Max}
	}
	return before.Plus(root)
}

// readGrown reads a model that grows, and refuses one whose records became other vectors.
func (b *Builder) readGrown(model jobs.Arrays) (*Space, *Growth, error) {
	s, g, err := b.after(model)
	if err != nil {
		return nil, nil, err
	}
	field, theirs, ours := s.Contradicts(b.params)
	if p := b.params; field == "" && p.puts() && !p.omits() && s.imputer.fill[0] != float32(p.Fill) {
		field, theirs, ours = "fill", s.imputer.fill[0], float32(p.Fill)
	}
	if field != "" {
		return nil, nil, protocol.SpecFault("spec.params: features.%s is %v in the model of spec.model, %v in this job",
			field, theirs, ours)
	}
	return s, g, nil
}

// growthArray begins the names of the arrays in a state or model.
const growthArray = "growth.columns."

// HasGrowth reports whether arrays have a growth; given is the answer where they are written.
func HasGrowth(f *jobs.Fields, given bool) bool { return f.Has(growthArray+"sums", given) }

// Fields lists the growth of a space. While reading, it must be what the moments of the space come from.
func (g *Growth) Fields(f *jobs.Fields, s *Space) {
	f.Require(s.form == dense && s.encoder == nil && (s.scale == ScaleNone || s.scale == ScaleL2) &&
		(s.imputer == nil || len(s.imputer.flagged) == 0 && len(s.imputer.fill) > 0),
		"a feature space of %v with scale %s does not grow", s.form, s.scale)
	jobs.Make(f, &g.moments).Named(f, growthArray)
	if f.Has(growthArray+"missing", g.missing != nil) {
		jobs.List(f, growthArray+"missing", &g.missing, s.Width)
	}
	f.Check(func() error { return g.check(s) })
}

func (g *Growth) check(s *Space) error {
	m := g.moments
	if m.Classes() != 1 || m.Width != s.Width || m.Weight.Float(0) != float64(s.Records) {
		return jobs.Malformed("the sums of a model that grows are not those of %d records of width %d", s.Records,
			s.Width)
	}
	if (g.missing != nil) != s.omits {
		return jobs.Malformed("a model that grows counts missing numbers, or leaves them out, but not both")
	}
	mean, variance := make([]float64, s.Width), make([]float64, s.Width)
	m.Mean(0, mean)
	m.Variance(0, variance)
	for j, n := range g.missing {
		if n < 0 || n >= s.Records {
			return jobs.Malformed("column %d of a model that grows misses %d numbers of %d", j+1, n, s.Records)
		}
		mean[j], variance[j] = m.Part(j, big.NewInt(s.Records-n), 0)
	}
	if !slices.Equal(mean, s.Mean) || !slices.Equal(variance, s.Variance) {
		return jobs.Malformed("the sums of a model that grows are not those of the means and variances of its columns")
	}
	return nil
}
