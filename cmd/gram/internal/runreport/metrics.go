package runreport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/compare"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/protocol"
)

// maxMetricColumns leaves room for a metric's name within 80 columns.
const maxMetricColumns = 52

// MetricRows are the metrics of a job as a person wants to see them: what was found at the end of rounds,
// or of machines, in one row, values in short; what only a page can show is left to it.
func MetricRows(metrics []jobs.Metric) [][2]string {
	var rows [][2]string
	series := map[string]int{} // number of the row
	seen := map[string]int{}   // values in it
	for _, m := range metrics {
		if strings.HasPrefix(m.Name, "restart.") {
			continue // of the restarts, the metrics that follow tell the best
		}
		name, _, of := compare.Numbered(m.Name)
		text := metricText(m)
		at, known := series[name]
		switch {
		case text == "":
		case of == "":
			rows = append(rows, [2]string{m.Name, text})
		case !known:
			series[name], seen[name] = len(rows), 1
			rows = append(rows, [2]string{name, text})
		default:
			seen[name]++
			first, _, _ := strings.Cut(rows[at][1], " ")
			rows[at][1] = fmt.Sprintf("%s ... %s in %d %s", first, text, seen[name], of)
		}
	}
	return rows
}

// metricText is a metric in one short line; "" where only the page can show it.
func metricText(m jobs.Metric) string {
	switch m.Name {
	case "evaluation":
		return evaluationText(m.Value)
	case "evaluation.regression":
		return regressionText(m.Value)
	case "evaluation.novelty":
		return noveltyText(m.Value)
	case "evaluation.scores":
		return scoresText(m.Value)
	case "evaluation.ranking":
		return rankingText(m.Value)
	case "evaluation.risk":
		return riskText(m.Value)
	case evaluation.FoldsMetric:
		return foldsText(m.Value)
	case evaluation.DealMetric:
		return dealText(m.Value)
	case "evaluation.bootstrap":
		return bootstrapText(m.Value)
	case "evaluation.confusion", "evaluation.mistakes":
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader(m.Value))
	dec.UseNumber()
	return terminal.Shorten(terminal.Clean(flatText(dec)), maxMetricColumns)
}

// certificateRows have a row for every field of a report's certificate, in its order.
func certificateRows(certificate json.RawMessage) [][2]string {
	dec := json.NewDecoder(bytes.NewReader(certificate))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil // none, or not one of ours
	}
	var rows [][2]string
	for dec.More() {
		key, _ := dec.Token() // the next error is the same
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return rows
		}
		text := metricText(jobs.Metric{Value: value})
		if json.Unmarshal(value, &text) == nil {
			text = terminal.Clean(text) // a sentence says what to do, and stays whole
		}
		if text != "" {
			rows = append(rows, [2]string{fmt.Sprint("certificate.", key), text})
		}
	}
	return rows
}

func evaluationText(value json.RawMessage) string {
	var e evaluation.Report
	if json.Unmarshal(value, &e) != nil {
		return ""
	}
	text := fmt.Sprintf("accuracy %.4f, macro F1 %.4f, %s", e.Accuracy, e.Macro.F1,
		protocol.Counted(e.Records, "test record"))
	if e.Rejected > 0 {
		text += fmt.Sprintf(", %d rejected", e.Rejected)
	}
	return text
}

func regressionText(value json.RawMessage) string {
	var r evaluation.Regression
	if json.Unmarshal(value, &r) != nil {
		return ""
	}
	interval := ""
	if r.Intervals != nil {
		interval = rangeText(r.Intervals.R2)
	}
	return fmt.Sprintf("R2 %.4f%s, MSE %.6g, MAE %.6g, %s", r.R2, interval, r.MeanSquaredError, r.MeanAbsoluteError,
		protocol.Counted(r.Records, "test record"))
}

func noveltyText(value json.RawMessage) string {
	var n evaluation.Novelty
	if json.Unmarshal(value, &n) != nil {
		return ""
	}
	auc := "none"
	if n.AUC != nil {
		auc = fmt.Sprintf("%.4f", *n.AUC)
	}
	return fmt.Sprintf("AUC %s, %.4f of the top %d are novel, %d of %d normal records are false alarms, %d of %d novel ones "+
		"are detected", auc, n.Precision, n.Top, n.FalseAlarms, n.Normal, n.Detected, n.Novel)
}

// flatText writes a value, a list of values or an object of values in its own order; "" stands for what is
// nested deeper, and fields that are nested are left out.
func flatText(dec *json.Decoder) string {
	token, err := dec.Token()
	open, nested := token.(json.Delim)
	if err != nil || !nested {
		return scalarText(token)
	}
	var items []string
	for dec.More() {
		item := ""
		if open == '{' {
			key, _ := dec.Token() // the next error is the same
			item = strings.ReplaceAll(fmt.Sprint(key), "_", " ") + " "
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return ""
		}
		switch value.(type) {
		case []any, map[string]any:
			if open == '[' {
				return ""
			}
		default:
			items = append(items, item+scalarText(value))
		}
	}
	return strings.Join(items, ", ")
}

// scalarText writes whole numbers as they are and others with six digits, or all that stand before the point.
func scalarText(value any) string {
	number, ok := value.(json.Number)
	if !ok {
		return fmt.Sprint(value)
	}
	if _, err := number.Int64(); err == nil {
		return number.String()
	}
	v, err := number.Float64()
	if err != nil {
		return number.String()
	}
	if size := math.Abs(v); size >= 1e6 && size < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
