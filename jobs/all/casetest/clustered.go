package casetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// Clustered is a job that must leave the same objects, to the byte, however it is run.
type Clustered struct {
	Over *Objects
	// Digest is the SHA-256 of the model, in hex, under every build and release.
	Digest string
	// Index names the index of the parts that the job emits (package jobs/learn/parts), such as
	// "predictions/index.json"; IndexDigest is its SHA-256.
	Index, IndexDigest string
	// Kill gives the parameters of a longer job, during which a worker is killed; empty for none.
	Kill string
	// More is further fields of the spec, each followed by a comma.
	More string
	// Alone reports that only the longer job reads the queries.
	Alone bool
}

// Objects are data sets as a cluster reads them.
type Objects struct {
	Fields, KillFields string // of the spec's data sets, besides their URIs
	Stored             func(t testing.TB) Stored
}

// Stored holds the contents of data sets, by key, and of the model that the job begins from; nil for none.
type Stored struct {
	Objects, Queries, KillObjects map[string][]byte
	Model                         []byte
}

const (
	digitFields = `"format":"csv","label":65,"shard_bytes":16384` // 64 grays and, in the last column, the class
	glossFields = `"format":"tsv","label":1,"text":3`
	splitFields = glossFields + `,"split":{"test":0.2}`
)

// Data sets of the matrix. Two objects of digits are one data set, or the second is the queries, or both for a job
// that is Alone.
var (
	digits = &Objects{digitFields, digitFields, func(t testing.TB) Stored {
		a, b := digitObjects(t)
		return Stored{Objects: map[string][]byte{"a.csv": a, "b.csv": b}, KillObjects: repeated(a, 20)}
	}}
	askedDigits = &Objects{digitFields, digitFields, func(t testing.TB) Stored {
		a, b := digitObjects(t)
		return Stored{Objects: map[string][]byte{"a.csv": a}, Queries: map[string][]byte{"b.csv": b},
			KillObjects: repeated(a, 20)}
	}}
	bothDigits = &Objects{digitFields, digitFields, func(t testing.TB) Stored {
		a, b := digitObjects(t)
		return Stored{Objects: map[string][]byte{"a.csv": a, "b.csv": b}, Queries: map[string][]byte{"b.csv": b},
			KillObjects: repeated(a, 20)}
	}}
	// Dealt into folds by class, with gaps, with a column of groups after that of labels, with columns of categories.
	dealtDigits   = &Objects{digitFields + `,"split":{"folds":3,"by":"label"}`, "", digits.Stored}
	gappedDigits  = &Objects{digitFields + `,"missing":["-"]`, "", gappedObjects}
	groupedDigits = &Objects{digitFields + `,"split":{"test":0.3,"group":66}`, "", groupedObjects}
	sortedDigits  = &Objects{digitFields + `,"categorical":[3,11]`, "", digits.Stored}

	someGlosses = &Objects{splitFields + `,"shard_bytes":16384`, splitFields + `,"shard_bytes":65536`, splitGlosses}
	moreGlosses = &Objects{glossFields + `,"shard_bytes":16384`, "", grownGlosses}
	newGlosses  = &Objects{glossFields + `,"shard_bytes":16384`, "", decidedGlosses}
)

// digitObjects returns the lines of handwritten digits up to past byte 40,000, and those up to past the next 20,000.
func digitObjects(t testing.TB) (a, b []byte) {
	t.Helper()
	all := gunzipped(t, "digits.csv.gz")
	end := func(from int) int { return from + bytes.IndexByte(all[from:], '\n') + 1 }
	first := end(40_000)
	second := end(first + 20_000)
	return all[:first], all[first:second]
}

// gappedObjects are digits without some of their grays.
func gappedObjects(t testing.TB) Stored {
	return changedDigits(t, func(line int, fields []string) []string {
		fields[(7*line)%64] = "-"
		if line%3 == 0 {
			fields[5] = "-"
		}
		return fields
	})
}

// groupedObjects are digits in 30 groups, which go on from one object to the next.
func groupedObjects(t testing.TB) Stored {
	return changedDigits(t, func(line int, fields []string) []string {
		return append(fields, fmt.Sprint("writer ", line%30))
	})
}

// changedDigits are the objects of digits with their lines changed.
func changedDigits(t testing.TB, change func(line int, fields []string) []string) Stored {
	t.Helper()
	stored := Stored{Objects: map[string][]byte{}}
	for name, data := range digits.Stored(t).Objects {
		var b bytes.Buffer
		line := 0
		for text := range strings.Lines(string(data)) {
			fields := change(line, strings.Split(strings.TrimSuffix(text, "\n"), ","))
			b.WriteString(strings.Join(fields, ",") + "\n")
			line++
		}
		stored.Objects[name] = b.Bytes()
	}
	return stored
}

// repeated is a data set of n objects of the same bytes.
func repeated(data []byte, n int) map[string][]byte {
	objects := map[string][]byte{}
	for i := range n {
		objects[fmt.Sprintf("%03d.csv", i)] = data
	}
	return objects
}

func splitGlosses(t testing.TB) Stored {
	first, second := split(Glosses(t, 25))
	return Stored{
		Objects:     map[string][]byte{"a.tsv": first, "b.tsv.gz": gzipped(t, second), "c/d.tsv": first[:1000]},
		KillObjects: map[string][]byte{"all.tsv": Glosses(t, 1)},
	}
}

// grownGlosses are the second half, after a model of the first.
func grownGlosses(t testing.TB) Stored {
	first, rest := split(Glosses(t, 50))
	second, third := split(rest)
	return Stored{
		Objects: map[string][]byte{"b.tsv": second, "c.tsv.gz": gzipped(t, third)},
		Model:   glossModel(t, glossFields, `{"grows":true}`, first),
	}
}

func decidedGlosses(t testing.TB) Stored {
	all := Glosses(t, 100)
	first, second := split(all)
	return Stored{
		Objects: map[string][]byte{"a.tsv": first, "b.tsv.gz": gzipped(t, second)},
		Model:   glossModel(t, splitFields, `{}`, all),
	}
}

// glossModel is naive Bayes trained on tab-separated glosses, in this process.
func glossModel(t testing.TB, format, params string, text []byte) []byte {
	t.Helper()
	data := &Data{format, func(testing.TB) (trained, asked records) {
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			trained = append(trained, jobstest.Record{Label: fields[0], Text: fields[2]})
		}
		return trained, nil
	}}
	return Case{Name: "glosses", Kind: "NaiveBayes", Params: params}.Train(t, Run{Data: data, Shards: 3}).Encode()
}

// split cuts a text at a line's end near its middle.
func split(text []byte) (first, second []byte) {
	at := len(text)/2 + bytes.IndexByte(text[len(text)/2:], '\n') + 1
	return text[:at], text[at:]
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
