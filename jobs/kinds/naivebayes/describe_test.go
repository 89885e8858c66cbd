package naivebayes

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/protocol"
)

// Log-odds of spam against ham with alpha 1, both denominators 11: buy 4/1, cheap 2/1, now
// 2/3. Of ham: now 3/2; meet, see, you 2/1, in dictionary order.
func TestDescribeByHand(t *testing.T) {
	const want = `kind         NaiveBayes (multinomial)
classes      2
documents    4, with 10 occurrences of known terms
dictionary   6 terms, single words in lower case
alpha        1
prior        learned
decision     largest posterior

Words that tell a class from the rest, by smoothed log-odds:

ham (3 documents)
  meet, see, you, now

spam (1 document)
  buy, cheap, now
`
	got, err := Kind().Describe(modelOf(t, `{}`, fourDocuments), jobs.DescribeOptions{})
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestDescribeChoosesClassesAndWords(t *testing.T) {
	model := modelOf(t, `{"positive": "spam", "ratio": 9}`, fourDocuments)
	got, err := Kind().Describe(model, jobs.DescribeOptions{Classes: []string{"spam"}, Top: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, "spam (1 document)\n  buy\n") || strings.Contains(got, "ham (3") {
		t.Errorf("%s", got)
	}
	if !strings.Contains(got, "spam iff its likelihood ratio is above 9") {
		t.Errorf("%s", got)
	}
	_, err = Kind().Describe(model, jobs.DescribeOptions{Classes: []string{"spma"}})
	var fault *protocol.Fault
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), `Did you mean "spam"?`) {
		t.Error(err)
	}
}

func TestDescribeStaysWithin80Columns(t *testing.T) {
	long := strings.Repeat("длинный", 30)
	var records []jobstest.Record
	for _, label := range []string{"a\x1b[31m", long, "c", "d", "e", "f", "g", "h", "i"} {
		records = append(records, jobstest.Record{Label: label, Text: label + " " + long +
			"x and several more words in line"})
	}
	got, err := Kind().Describe(modelOf(t, `{"reject_below": 0.5}`, records), jobs.DescribeOptions{Top: 50})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Error("a label's escape sequence reaches the terminal")
	}
	if !strings.Contains(got, "8 of 9 classes shown;") {
		t.Errorf("%s", got)
	}
}
