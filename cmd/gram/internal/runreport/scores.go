package runreport

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/protocol"
)

func figureText(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprintf("%.4f", *v)
}

// rangeText has the interval of a figure; "" for none.
func rangeText(i *evaluation.Interval) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf(" (%.4f to %.4f)", i.Low, i.High)
}

func scoresText(value json.RawMessage) string {
	var s evaluation.Scores
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	text := fmt.Sprintf("accuracy %.4f without rejection", s.Accuracy)
	if s.LogLoss != nil {
		text = fmt.Sprintf("log loss %s, Brier score %s, ", figureText(s.LogLoss), figureText(s.Brier)) + text
	}
	return text
}

func rankingText(value json.RawMessage) string {
	var r evaluation.Rankings
	if json.Unmarshal(value, &r) != nil || len(r.Classes) == 0 {
		return ""
	}
	if len(r.Classes) == 1 {
		only := r.Classes[0]
		return fmt.Sprintf("AUC %s%s, average precision %s%s", figureText(only.AUC), rangeText(only.AUCInterval),
			figureText(only.Average), rangeText(only.AverageInterval))
	}
	return fmt.Sprintf("macro AUC %s, macro average precision %s, %d classes", figureText(r.MacroAUC),
		figureText(r.MacroAverage), len(r.Classes))
}

func riskText(value json.RawMessage) string {
	var r evaluation.Risk
	if json.Unmarshal(value, &r) != nil {
		return ""
	}
	if r.Threshold == nil {
		return fmt.Sprintf("no threshold has at most %g of the decisions wrong", r.Asked)
	}
	return fmt.Sprintf("from confidence %.6g on, %.4f of the records with %.4f wrong", *r.Threshold, r.Coverage,
		r.Errors)
}

func bootstrapText(value json.RawMessage) string {
	var b evaluation.Bootstrap
	if json.Unmarshal(value, &b) != nil || b.Accuracy == nil {
		return ""
	}
	return fmt.Sprintf("accuracy %.4f to %.4f at %g", b.Accuracy.Low, b.Accuracy.High, b.Confidence)
}

// dealText has the sizes of the parts.
func dealText(value json.RawMessage) string {
	var d evaluation.Deal
	if json.Unmarshal(value, &d) != nil || len(d.Parts) < 2 {
		return ""
	}
	what := protocol.Counted(d.Groups, "group")
	switch {
	case d.Hashed:
		what = "more than 65536 groups"
	case d.Classes > 0:
		what = protocol.Counted(d.Classes, "class")
	}
	if d.Held {
		return fmt.Sprintf("%s held out and %d for training, of %s", protocol.Counted(d.Parts[0], "record"), d.Parts[1],
			what)
	}
	return fmt.Sprintf("%d folds of %d to %s, of %s", len(d.Parts), slices.Min(d.Parts),
		protocol.Counted(slices.Max(d.Parts), "record"), what)
}

// foldsText has the first figure, and of how many folds it is the mean.
func foldsText(value json.RawMessage) string {
	var f evaluation.Folds
	if json.Unmarshal(value, &f) != nil || len(f.Summaries) == 0 {
		return ""
	}
	first := f.Summaries[0]
	return fmt.Sprintf("%s %.4f, deviation %.4f, over %d folds", first.Figure, first.Mean, first.Deviation,
		len(f.Folds))
}
