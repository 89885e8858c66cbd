package evaluation

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// The answers of a detector of novel records that has a threshold.
const (
	Inlier  = "inlier"
	Outlier = "outlier"
)

// DetectorAnswers are inlier or outlier with a value; labels of records do not say which is true.
func DetectorAnswers(value string) jobs.Answers {
	return jobs.Answers{Labels: []string{Inlier, Outlier}, Value: value, Clusters: true}
}

// Detector is a model of normal records.
type Detector interface {
	jobs.Predictor
	// Novelty is how novel a record of that outcome is: the more, the higher.
	Novelty(jobs.Outcome) float64
}

// NoveltyParams are those of a detector of novel records.
type NoveltyParams struct {
	Labels      []string `json:"labels,omitempty"`
	Validation  float64  `json:"validation"`
	FalseAlarms float64  `json:"false_alarms"`
	Top         int      `json:"top,omitempty"`
}

// Parameters declares the parameters.
func (p *NoveltyParams) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Value("labels", &p.Labels).Missing("no record is known to be novel").
			Says("Labels of novel records. Records that have one are not trained on, nor do they set the threshold; as test " +
				"records they are what is to be detected."),
		params.Number("validation", &p.Validation, 0.2, "[0, 1)").
			Says("Share of the normal training records that are not trained on and set the threshold. With 0 no threshold is set."),
		params.Number("false_alarms", &p.FalseAlarms, 0.05, "(0, 1)").
			Says("Greatest probability that a normal record, drawn like the validating ones, is called an outlier.").
			From("Vovk, Gammerman and Shafer (2005), section 2.1."),
		params.Whole("top", &p.Top, 0, 1, 1<<30).Missing("as many as are novel").
			Says("Number of test records of highest novelty among which the precision is measured."),
	}
}

// Check rejects labels that stand there twice.
func (p *NoveltyParams) Check() error {
	for i, label := range p.Labels {
		if slices.Contains(p.Labels[:i], label) {
			return protocol.SpecFault("labels name %q twice", label)
		}
	}
	if p.Labels != nil && len(p.Labels) == 0 {
		return protocol.SpecFault("labels are empty: name those of novel records, or leave them out")
	}
	return nil
}

// UnmarshalJSON writes the defaults in.
func (p *NoveltyParams) UnmarshalJSON(data []byte) error {
	type plain NoveltyParams
	var q NoveltyParams
	params.Reset(q.Parameters())
	if err := protocol.StrictDecode(data, (*plain)(&q)); err != nil {
		return err
	}
	*p = q
	return nil
}

// Detection is what a job that trains a detector does with records that it does not learn from: some normal ones set
// the threshold, phase "threshold"; test records, which the spec names as for a Judge, are ranked by their novelty,
// phase "evaluate". Weights of records do not count.
//
// The threshold comes from normal records of the training side alone. It leaves the metric "novelty.threshold", and
// test records "evaluation.novelty" (a Novelty).
type Detection struct {
	params     NoveltyParams
	judge      Judge // of the test records; it loads nothing
	train      jobs.Records
	validation jobs.Records // nil for none
	load       func(jobs.Arrays, *kernelops.Set) (Detector, error)
	set        func(model jobs.Arrays, threshold float64) (jobs.Arrays, error)
}

// DetectionOf returns the detection of a spec; given is nil where the spec has no such parameters: then there is no
// threshold. set returns a model with a threshold. Test records without a label that is novel are a *protocol.Fault of
// CodeSpecInvalid.
func DetectionOf(
	spec protocol.JobSpec, given *NoveltyParams, load func(jobs.Arrays, *kernelops.Set) (Detector, error),
	set func(jobs.Arrays, float64) (jobs.Arrays, error),
) (Detection, error) {
	d := Detection{load: load, set: set, train: jobs.TrainingRecords(spec)}
	if given != nil {
		d.params = *given
	}
	var err error
	if d.judge, err = JudgeOf(spec, nil, nil); err != nil {
		return d, err
	}
	if spec.Spec.Evaluation != nil {
		return d, Unscored("a detector")
	}
	if d.judge.Judges() && d.params.Labels == nil {
		return d, protocol.SpecFault("there are test records, and no label is known to be novel").
			WithHint("Name the labels of novel records in spec.params.novelty.labels, or leave the test records out.")
	}
	share := d.params.Validation
	if share == 0 {
		return d, nil
	}
	draws := func() *dataset.Draws { return dataset.NewDraws(philox.New(spec.Spec.Repro.Seed, "validation")) }
	all := d.train
	d.train = func() jobs.Choice {
		of, draws := all(), draws()
		return func(b *dataset.Block, i int) bool { return of(b, i) && !(draws.Float64(b.IDs[i]) < share) }
	}
	d.validation = func() jobs.Choice {
		of, draws := all(), draws()
		return func(b *dataset.Block, i int) bool { return of(b, i) && draws.Float64(b.IDs[i]) < share }
	}
	return d, nil
}

// Train selects the records to learn from, but for those that are novel.
func (d Detection) Train() jobs.Records { return d.train }

// Novel reports whether a record is novel, by its label; labels are those of its block. Where it cannot be told, as
// there are none, it is a fault with the position of the record.
func (d Detection) Novel(id dataset.Identity, labels [][]byte, i int) (bool, error) {
	if d.params.Labels == nil {
		return false, nil
	}
	if labels == nil {
		return false, id.Fault("the record has no label that could be novel").
			WithHint("Name the column of labels in spec.input.label, or leave spec.params.novelty.labels out.")
	}
	return slices.Contains(d.params.Labels, string(labels[i])), nil
}

const thresholdName = "threshold"

// End completes the last training step, whose model is next.State.
func (d Detection) End(next jobs.Next, plan jobs.Plan) jobs.Next {
	if d.validation == nil {
		return d.judge.End(next, plan)
	}
	next.Phase = thresholdName
	return next
}

// Phases are those that End goes on with.
func (d Detection) Phases() (list []jobs.Phase) {
	partial := func() *noveltyTally { return &noveltyTally{ranking: NewRanking()} }
	if d.validation != nil {
		list = append(list, jobs.MapReduce[jobs.Arrays, *noveltyTally]{
			Name: thresholdName, State: jobs.Itself, Partial: partial,
			Map: d.counts(jobs.Input, d.validation, false), Merge: (*noveltyTally).plus, Step: d.threshold,
		}.Phase())
	}
	if d.judge.Judges() {
		list = append(list, jobs.MapReduce[jobs.Arrays, *noveltyTally]{
			Name: Name, State: jobs.Itself, Partial: partial,
			Map: d.counts(d.judge.Source(), d.judge.Test(), true), Merge: (*noveltyTally).plus, Step: d.finish,
		}.Phase())
	}
	return list
}

// counts returns a function that ranks the chosen records of a leaf, the novel ones or not.
func (d Detection) counts(from jobs.Source, of jobs.Records, novel bool) func(
	context.Context, jobs.Arrays, jobs.Leaf, *kernelops.Set) (*noveltyTally, error) {
	return func(ctx context.Context, model jobs.Arrays, leaf jobs.Leaf, ops *kernelops.Set) (*noveltyTally, error) {
		detector, err := d.load(model, ops)
		if err != nil {
			return nil, err
		}
		t, chosen, keep := &noveltyTally{ranking: NewRanking()}, Selection{}, of()
		for block, err := range leaf.Read(ctx, from, leaf.Index) {
			if err != nil {
				return nil, err
			}
			some := chosen.Of(block, keep)
			if len(some.IDs) == 0 {
				continue
			}
			outcomes, err := detector.Predict(ctx, some)
			if err != nil {
				return nil, err
			}
			for i, o := range outcomes {
				is, err := d.Novel(some.IDs[i], some.Labels, i)
				if err != nil {
					return nil, err
				}
				if novel || !is {
					t.add(detector.Novelty(o), is, o.Label == Outlier)
				}
			}
		}
		return t, nil
	}
}

// threshold gives the model a threshold, if there are records enough.
func (d Detection) threshold(
	_ context.Context, model jobs.Arrays, t *noveltyTally, round jobs.Round,
) (jobs.Next, error) {
	var facts jobs.Facts
	found := Threshold{Records: t.ranking.total(), FalseAlarms: d.params.FalseAlarms}
	if threshold, ok := t.ranking.Threshold(d.params.FalseAlarms); ok {
		var err error
		if model, err = d.set(model, threshold); err != nil {
			return jobs.Next{}, err
		}
		found.Threshold = &threshold
	} else {
		facts.Add(jobs.WarningsMetric, []string{found.tooFew()})
	}
	facts.Add(thresholdMetric, found)
	metrics, err := facts.Metrics()
	return d.judge.End(jobs.Next{State: model, Metrics: metrics}, round.Plan), err
}

// finish ends the job with what was detected.
func (d Detection) finish(_ context.Context, model jobs.Arrays, t *noveltyTally, _ jobs.Round) (jobs.Next, error) {
	var facts jobs.Facts
	report := t.report(int64(d.params.Top))
	if report.AUC == nil {
		facts.Add(jobs.WarningsMetric, []string{report.oneSided()})
	}
	facts.Add(noveltyMetric, report)
	metrics, err := facts.Metrics()
	return jobs.Next{Done: true, State: model, Metrics: metrics}, err
}
