package protocol

// Evaluation says how the scores of test records are judged. A spec without it judges decisions alone.
type Evaluation struct {
	// Positive is, of two classes, the one whose score is ranked; "" means the second in byte order.
	Positive string `json:"positive,omitempty"`
	// Bins is the number of bins of equal width of a calibration curve.
	Bins int `json:"bins"`
	// Errors is the share of wrong decisions that a threshold of the confidence is looked for; nil means DefaultErrors.
	Errors *float64 `json:"errors,omitempty"`
	// Bootstrap is the number of replicates for confidence intervals; 0 means no intervals.
	Bootstrap int `json:"bootstrap,omitempty"`
	// Confidence is the probability of the intervals.
	Confidence float64 `json:"confidence"`
}

// Defaults and bounds of Evaluation.
const (
	DefaultBins       = 10
	MaxBins           = 1000
	DefaultErrors     = 0.01
	DefaultConfidence = 0.95
	MinBootstrap      = 20
	MaxBootstrap      = 10_000
)

// withDefaults returns a copy with the defaults written in.
func (e Evaluation) withDefaults() *Evaluation {
	setDefault(&e.Bins, DefaultBins)
	setDefault(&e.Confidence, DefaultConfidence)
	if e.Errors == nil {
		share := DefaultErrors
		e.Errors = &share
	}
	return &e
}

// validate refuses values out of their bounds, and what the split has no use for.
func (e Evaluation) validate(split Split) error {
	switch {
	case e.Bootstrap != 0 && split.Folds != 0:
		return SpecFault("spec.evaluation.bootstrap is for one set of test records, and spec.input.split.folds has several").
			WithHint("Leave one of them out: with folds, the report tells how far figures vary from fold to fold.")
	case e.Bins < 1 || e.Bins > MaxBins:
		return SpecFault("spec.evaluation.bins is %d; 1 to %d are accepted", e.Bins, MaxBins)
	case e.Errors == nil || !(*e.Errors >= 0 && *e.Errors < 1):
		return SpecFault("spec.evaluation.errors is a share in [0, 1), not %v", shown(e.Errors))
	case e.Bootstrap != 0 && (e.Bootstrap < MinBootstrap || e.Bootstrap > MaxBootstrap):
		return SpecFault("spec.evaluation.bootstrap is %d; 0 and %d to %d are accepted", e.Bootstrap, MinBootstrap,
			MaxBootstrap)
	case !(e.Confidence > 0 && e.Confidence < 1):
		return SpecFault("spec.evaluation.confidence is a probability in (0, 1), not %v", e.Confidence)
	}
	return nil
}

func shown(v *float64) any {
	if v == nil {
		return "nothing"
	}
	return *v
}
