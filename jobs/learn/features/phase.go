package features

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/ranks"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Name is the phase's name.
const Name = "features"

// Builder computes the feature space of the training records in one pass over them.
type Builder struct {
	params    Params
	kind      string
	tokenizer *text.Tokenizer
	hasher    *hasher // nil if terms have a dictionary
	// categorical are the names of spec.input.categorical, and categoryHasher hashes categories, or is nil.
	categorical    []string
	categoryHasher *hasher
	train          jobs.Records
	countLabels    bool
	classes        int       // least number of classes; -1 if labels are not required
	scaleField     string    // see Compares; "" if the kind does not compare vectors
	leavesOut      LeavesOut // nil if it leaves none out
	grows          bool      // see Grows
	after          after     // nil without a model
}

// after reads what a model keeps; see After.
type after func(model jobs.Arrays) (*Space, *Growth, error)

// Option changes what the builder requires of labels and columns.
type Option func(*Builder)

// Classes requires that every training record has a label and that there are at least min classes; the fault is that of
// Space.RequireLabels.
func Classes(min int) Option { return func(b *Builder) { b.classes = min } }

// NoClasses turns the counting of labels off. If labels are numbers or identifiers, the state would otherwise grow with
// the number of records.
func NoClasses() Option { return func(b *Builder) { b.countLabels = false } }

// LeavesOut says which records of a block, whose labels it is given, do not count.
type LeavesOut func(id dataset.Identity, labels [][]byte, i int) (bool, error)

// Of takes other records to learn from than TrainingRecords, but for those that are left out.
func Of(records jobs.Records, but LeavesOut) Option {
	return func(b *Builder) { b.train, b.leavesOut = records, but }
}

// New returns the phase "features" for a spec. The phase passes the space of the training records to the phase next.
func New(p Params, spec protocol.JobSpec, next string, options ...Option) (jobs.Phase, error) {
	b, err := NewBuilder(p, spec, options...)
	if err != nil {
		return nil, err
	}
	return b.Phase(func(_ jobs.Arrays, s *Space) (jobs.Next, error) {
		return jobs.Next{Phase: next, State: jobs.ArraysOf(s)}, nil
	}), nil
}

// NewBuilder returns a builder for the training records of a spec.
func NewBuilder(p Params, spec protocol.JobSpec, options ...Option) (*Builder, error) {
	if err := cmp.Or(p.checkAll(), p.checkSubmitted(len(spec.Spec.Input.Categorical))); err != nil {
		return nil, err
	}
	if err := p.checkInput(spec.Spec.Input); err != nil {
		return nil, err
	}
	tokenizer, err := p.text().Tokenizer()
	if err != nil {
		return nil, err
	}
	b := &Builder{params: p, kind: spec.Kind, tokenizer: tokenizer, train: jobs.TrainingRecords(spec),
		countLabels: true, classes: -1}
	if p.Hashing != nil {
		b.hasher = newHasher(*p.Hashing, spec.Spec.Repro.Seed)
	}
	for _, c := range spec.Spec.Input.Categorical {
		b.categorical = append(b.categorical, cmp.Or(c.Name, strconv.Itoa(c.Number)))
	}
	if bits := p.categories().Bits; bits > 0 {
		b.categoryHasher = newHasher(Hashing{Bits: bits}, spec.Spec.Repro.Seed)
	}
	for _, option := range options {
		option(b)
	}
	return b, nil
}

// Phase returns the phase "features". The function then returns what comes next, given the space and the state that the
// job began with, which is the model of spec.model or empty.
func (b *Builder) Phase(then func(jobs.Arrays, *Space) (jobs.Next, error)) jobs.Phase {
	return b.Planned(func(state jobs.Arrays, space *Space, _ jobs.Plan) (jobs.Next, error) {
		return then(state, space)
	})
}

// Planned is Phase for a function that also wants the plan.
func (b *Builder) Planned(then func(jobs.Arrays, *Space, jobs.Plan) (jobs.Next, error)) jobs.Phase {
	return jobs.MapReduce[jobs.Arrays, *Counts]{
		Name: Name, State: jobs.Itself, Partial: b.NewCounts, Merge: (*Counts).Plus, Rounds: jobs.Most(b.passes()),
		Map: func(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set) (*Counts, error) {
			if s, err := readScan(state); err != nil || s != nil {
				if err != nil {
					return nil, err
				}
				return b.rank(ctx, s, leaf)
			}
			if b.after != nil {
				if _, _, err := b.readGrown(state); err != nil {
					return nil, err
				}
			}
			return b.Count(ctx, leaf, ops)
		},
		Step: func(_ context.Context, state jobs.Arrays, root *Counts, round jobs.Round) (jobs.Next, error) {
			s, err := readScan(state)
			if err != nil {
				return jobs.Next{}, err
			}
			if s != nil {
				return s.step(root, func(s *scan) (jobs.Next, error) { return then(s.given, s.space, round.Plan) })
			}
			if root, err = b.with(state, root); err != nil {
				return jobs.Next{}, err
			}
			space, found, err := b.Space(root)
			if err != nil {
				return jobs.Next{}, err
			}
			next := jobs.Next{}
			if space.scale == ScaleRobust {
				next, err = scanned(beginScan(state, space))
			} else {
				next, err = then(state, space, round.Plan)
			}
			next.Metrics = append(found, next.Metrics...)
			return next, err
		},
	}.Phase()
}

// passes is how many passes over the records the space takes at most: robust scaling ranks after the first.
func (b *Builder) passes() int64 {
	if b.params.Scale == ScaleRobust {
		return 1 + ranks.Passes
	}
	return 1
}

// Count counts the training records of one leaf, in time linear in its values and memory linear in its width, labels
// and terms. A change of shape and a training value that is not finite are faults of CodeBadRecord with their position.
func (b *Builder) Count(ctx context.Context, leaf jobs.Leaf, ops *kernelops.Set) (*Counts, error) {
	l, train := b.newLeaf(ops), b.train()
	defer l.terms.Close()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if err := l.begin(block); err != nil {
			return nil, err
		}
		l.terms.Begin(block)
		for i, id := range block.IDs {
			if !train(block, i) {
				continue
			}
			if b.leavesOut != nil {
				if out, err := b.leavesOut(id, block.Labels, i); err != nil {
					return nil, err
				} else if out {
					continue
				}
			}
			if err := l.add(block, i); err != nil {
				return nil, err
			}
		}
	}
	l.terms.Keep()
	return l.counts(), nil
}

// Space returns the space and the metrics that describe it. It is a fault of CodeInputEmpty if there is no training
// record.
func (b *Builder) Space(root *Counts) (*Space, []jobs.Metric, error) {
	if root.records == 0 {
		fault := protocol.EmptyFault("no training record")
		if b.leavesOut != nil {
			return nil, nil, fault.WithHint("Check spec.input.uri, spec.input.split.test and params.novelty: records of " +
				"novelty.labels are not learned from, nor is its share for validation.")
		}
		return nil, nil, fault.WithHint("Check spec.input.uri and spec.input.split.test.")
	}
	space, err := b.space(root)
	if err != nil {
		return nil, nil, err
	}
	if b.classes >= 0 {
		if err := space.RequireLabels(b.kind, b.classes); err != nil {
			return nil, nil, err
		}
	}
	warnings, err := b.dominance(space)
	return space, slices.Concat(metrics(space), b.hashMetrics(root), warnings), err
}

// space derives the space from the counts of all training records.
func (b *Builder) space(root *Counts) (*Space, error) {
	s := &Space{Width: root.shape.width, Records: root.records, Sparse: root.shape.form != dense,
		Labels: root.labels.Keys, ClassRecords: root.labels.Columns[0],
		form: root.shape.form, scale: b.params.Scale}
	switch s.form {
	case dense:
		if err := b.denseSpace(s, root); err != nil {
			return nil, err
		}
	case sparse:
		s.scaleSparse(root.columns)
		b.weigh(s, root.documents.byColumn)
	case texts:
		if err := b.textSpace(s, root); err != nil {
			return nil, err
		}
	}
	s.index()
	return s, nil
}

// denseSpace gives a space the columns of dense vectors: numbers are put in, then mapped, then scaled.
func (b *Builder) denseSpace(s *Space, root *Counts) (err error) {
	c := root.columns
	if err := b.impute(s, &c, root.gone); err != nil {
		return err
	}
	if b.grows {
		s.growth = b.growth(s, c, root.gone)
	}
	if m := b.params.Map; m != nil {
		if s.mapper, err = newMapper(*m, s.Width); err != nil {
			return err
		}
		s.Width = s.mapper.width()
	}
	if root.categories != nil {
		if s.encoder, err = b.newEncoder(root); err != nil {
			return err
		}
	}
	s.scaleDense(c, root)
	if s.encoder != nil && s.encoder.Sparse {
		s.form, s.Sparse = sparse, true
		s.Mean, s.Variance, s.Min, s.Max, s.shift = nil, nil, nil, nil, nil
	}
	return nil
}

// textSpace gives a space the columns of texts.
func (b *Builder) textSpace(s *Space, root *Counts) error {
	s.text = b.params.text()
	if b.hasher != nil {
		if root.hashed.none() {
			return protocol.EmptyFault("no term in %s", protocol.Counted(root.records, "training record")).
				WithHint("Check spec.input.text.")
		}
		s.hasher, s.Width = b.hasher, b.hasher.width()
		b.weigh(s, root.documents.byColumn)
		return nil
	}
	kept, err := b.params.text().Choose(root.terms, root.records)
	if err != nil {
		return err
	}
	if s.dictionary, err = vocabulary.NewDictionary(kept.Keys); err != nil {
		return err
	}
	s.Width = s.dictionary.Len()
	b.weigh(s, func(int) []int64 { return kept.Columns[1] })
	return nil
}

// weigh gives a space the weights of its columns, where the parameters want them.
func (b *Builder) weigh(s *Space, documents func(width int) []int64) {
	if b.params.TFIDF != nil {
		s.rarity = newRarity(*b.params.TFIDF, documents(s.Width), s.Records)
	}
}

func (b *Builder) hashMetrics(root *Counts) []jobs.Metric {
	if b.hasher == nil {
		return nil
	}
	return root.hashed.metrics(b.hasher)
}

func metrics(s *Space) []jobs.Metric {
	return []jobs.Metric{
		jobs.CountMetric("features.records", s.Records),
		jobs.CountMetric("features.width", int64(s.Width)),
		jobs.CountMetric("features.labels", int64(s.Labels.Len())),
	}
}
