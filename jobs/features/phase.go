package features

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/jobs/vocabulary"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Name is the phase's name.
const Name = "features"

// Phase reads the training records once and hands the Space to the next phase.
type Phase struct {
	params      Params
	kind        string
	tokenizer   *text.Tokenizer
	hasher      *hasher // nil where terms have a dictionary
	train       jobs.Records
	next        string
	countLabels bool
	classes     int    // required; -1 for no labels required
	scaleField  string // see Compares; "" where nothing is compared
}

// Option changes what the phase asks of labels.
type Option func(*Phase)

// Classes requires a label of every training record, of min classes or more together;
// the fault is that of Space.RequireLabels.
func Classes(min int) Option { return func(p *Phase) { p.classes = min } }

// NoClasses leaves labels uncounted: where they are numbers, or identifiers, the
// state would grow with the records.
func NoClasses() Option { return func(p *Phase) { p.countLabels = false } }

// New makes the phase for the training records of a spec; next is the phase that follows.
func New(p Params, spec protocol.JobSpec, next string, options ...Option) (jobs.Phase, error) {
	if err := params.Check(&p); err != nil {
		return nil, err
	}
	tokenizer, err := p.text().Tokenizer()
	if err != nil {
		return nil, err
	}
	phase := &Phase{params: p, kind: spec.Kind, tokenizer: tokenizer, train: jobs.TrainingRecords(spec), next: next,
		countLabels: true, classes: -1}
	if p.Hashing != nil {
		phase.hasher = newHasher(*p.Hashing, spec.Spec.Repro.Seed)
	}
	for _, option := range options {
		option(phase)
	}
	return jobs.MapReduce[none, *partial]{
		Name: Name, Partial: func() *partial { return &partial{phase: phase} },
		// Another shape to the right is a fault of CodeBadRecord with the position of its first record.
		Map: phase.count, Merge: (*partial).plus, Step: phase.finish,
	}.Phase(), nil
}

// none is the state that the phase begins from.
type none struct{}

// count reads one leaf: linear in its values, memory in its width, labels and terms. A change of shape and a training
// value that is not finite are faults of CodeBadRecord with their position.
func (p *Phase) count(ctx context.Context, _ none, leaf jobs.Leaf, _ *kernelops.Set) (*partial, error) {
	l, train := p.newLeaf(), p.train()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if err := l.begin(block); err != nil {
			return nil, err
		}
		for i, id := range block.IDs {
			if !train(id) {
				continue
			}
			if err := l.add(block, i); err != nil {
				return nil, err
			}
		}
	}
	return l.partial(), nil
}

// finish makes the space. No training record is a fault of CodeInputEmpty.
func (p *Phase) finish(_ context.Context, _ none, root *partial, _ jobs.Round) (jobs.Next, error) {
	if root.records == 0 {
		return jobs.Next{}, protocol.EmptyFault("no training record").
			WithHint("Check spec.input.uri and spec.input.split.test.")
	}
	space, err := p.space(root)
	if err != nil {
		return jobs.Next{}, err
	}
	if p.classes >= 0 {
		if err := space.RequireLabels(p.kind, p.classes); err != nil {
			return jobs.Next{}, err
		}
	}
	warnings, err := p.dominance(space)
	if err != nil {
		return jobs.Next{}, err
	}
	found := slices.Concat(metrics(space), p.hashMetrics(root), warnings)
	return jobs.Next{Phase: p.next, State: jobs.ArraysOf(space), Metrics: found}, nil
}

// space derives the space from the counts of all training records.
func (p *Phase) space(root *partial) (*Space, error) {
	s := &Space{Width: root.shape.width, Records: root.records, Sparse: root.shape.form != dense,
		Labels: root.labels.Keys, ClassRecords: root.labels.Columns[0],
		form: root.shape.form, scale: p.params.Scale}
	switch s.form {
	case dense:
		s.scaleDense(root.columns)
	case sparse:
		s.scaleSparse(root.columns)
	case texts:
		s.text = p.params.text()
		if p.hasher != nil {
			if root.hashed.none() {
				return nil, protocol.EmptyFault("no term in %d training records", root.records).
					WithHint("Check spec.input.text.")
			}
			s.hasher, s.Width = p.hasher, p.hasher.width()
			break
		}
		kept, err := p.params.text().Choose(root.terms, root.records)
		if err != nil {
			return nil, err
		}
		if s.dictionary, err = vocabulary.NewDictionary(kept.Keys); err != nil {
			return nil, err
		}
		s.Width = s.dictionary.Len()
	}
	s.index()
	return s, nil
}

func (p *Phase) hashMetrics(root *partial) []jobs.Metric {
	if p.hasher == nil {
		return nil
	}
	return root.hashed.metrics(p.hasher)
}

func metrics(s *Space) []jobs.Metric {
	return []jobs.Metric{
		jobs.CountMetric("features.records", s.Records),
		jobs.CountMetric("features.width", int64(s.Width)),
		jobs.CountMetric("features.labels", int64(s.Labels.Len())),
	}
}
