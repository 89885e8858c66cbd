package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// Scalar is a number or a word of a metric.
type Scalar struct {
	Name   string // of the metric, and the path in its value
	Number float64
	Word   string // "" of a number
}

// forWorkers begins the names of metrics that workers hand on to the report: digests of records, and of files.
const forWorkers = "step."

// maxName bounds the name of a scalar, in bytes. It has the names of all values around it, so that without a bound n
// bytes of a worker's, values in values, would have names of n² bytes.
const maxName = 512

// Scalars visits the numbers and the words of metrics, in their order. Lists hold single records and labels, and are
// left out, and so are warnings and what has a longer name than any kind gives.
func Scalars(metrics []jobs.Metric, visit func(Scalar)) {
	for _, m := range metrics {
		if len(m.Name) <= maxName && m.Name != jobs.WarningsMetric && !strings.HasPrefix(m.Name, forWorkers) {
			dec := json.NewDecoder(bytes.NewReader(m.Value))
			dec.UseNumber()
			scalars(dec, m.Name, visit)
		}
	}
}

// scalars visits a value; false means that it breaks off.
func scalars(dec *json.Decoder, path string, visit func(Scalar)) bool {
	token, err := dec.Token()
	if err != nil {
		return false
	}
	switch v := token.(type) {
	case json.Number:
		if n, err := v.Float64(); err == nil && !math.IsInf(n, 0) {
			visit(Scalar{Name: path, Number: n})
		}
	case string:
		if v != "" { // a scalar without a word is a number
			visit(Scalar{Name: path, Word: v})
		}
	case bool:
		visit(Scalar{Name: path, Word: strconv.FormatBool(v)})
	case json.Delim:
		for dec.More() {
			if v == '[' {
				if !scalars(dec, "", func(Scalar) {}) {
					return false
				}
				continue
			}
			name, err := dec.Token()
			text, ok := name.(string)
			if err != nil || !ok {
				return false
			}
			if len(path)+len(text) < maxName {
				ok = scalars(dec, path+"."+text, visit)
			} else {
				ok = scalars(dec, "", func(Scalar) {})
			}
			if !ok {
				return false
			}
		}
		_, err = dec.Token()
	}
	return err == nil
}

// Series takes the number of a round out of a name such as "lloyd.003.distortion"; ok is false of a name without, and
// of one that counts machines, as "svm.margin.003.lo" does.
func Series(name string) (without string, round uint32, ok bool) {
	without, n, of := Numbered(name)
	return without, n, of == Rounds
}

// What the number in the name of a metric counts.
const (
	Rounds   = "rounds"
	Machines = "machines"
)

// Numbered takes the number of a round out of a name such as "lloyd.003.distortion", or that of a machine out of
// "svm.margin.003.lo" and "svm.support.003", and says which of them it is; "" of a name without.
func Numbered(name string) (without string, number uint32, of string) {
	words := strings.Split(name, ".")
	at := slices.IndexFunc(words, func(word string) bool {
		_, err := strconv.ParseUint(word, 10, 32)
		return err == nil && len(word) >= 3
	})
	if at < 0 {
		return name, 0, ""
	}
	n, _ := strconv.ParseUint(words[at], 10, 32) // it is one
	of = Rounds
	if at > 0 && (words[at-1] == "margin" || words[at-1] == "support") {
		of = Machines
	}
	return strings.Join(slices.Delete(words, at, at+1), "."), uint32(n), of
}
