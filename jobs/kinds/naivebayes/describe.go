package naivebayes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/protocol"
)

const (
	describeClasses = 8  // classes shown unless named
	describeTop     = 10 // words per class unless told
)

// describe tells people what a model is, within 80 columns: its parameters, and the words
// that tell each class from the rest. Those are ranked by smoothed log-odds,
//
//	log p(w|y) - log p(w|not y),  p(w|not y) = (c_w - c_wy + alpha) / (w - w_y + alpha n),
//
// and not by p(w|y), which would list the same frequent words for every class.
func (m *model) describe(p *describe.Page) error {
	classes, err := m.pickClasses(p)
	if err != nil {
		return err
	}
	m.describeHead(p)
	p.Text("\nWords that tell a class from the rest, by smoothed log-odds:\n")
	words := m.topWords(classes, p.Few(describeTop))
	for i, y := range classes {
		p.Text("\n%s (%s)\n", describe.Clip(plain(m.labels.At(y)), describe.Width-30),
			protocol.Counted(m.documents[y], "document"))
		p.Words(words[i])
	}
	p.Shown("%d of %d classes", len(classes), m.labels.Len())
	return nil
}

func (m *model) describeHead(p *describe.Page) {
	p.Line("kind", "%s (%s)", KindName, m.params.Form)
	p.Line("classes", "%d", m.labels.Len())
	what := "occurrences of known terms"
	if m.params.Form == formBernoulli {
		what = "pairs of a document and a known term"
	}
	p.Line("documents", "%d, with %d %s", sums.Total(m.documents), sums.Total(m.counts.count), what)
	p.Line("dictionary", "%s, %s", protocol.Counted(int64(m.dictionary.Len()), "term"), m.describeTokenizer())
	if m.omission != nil {
		p.Line("missing", "left out of %d columns of counts", m.omission.width)
	}
	if m.growth != nil {
		p.Line("grows", "yes: a job may add records to it")
	}
	p.Line("alpha", "%v", m.params.Alpha)
	p.Line("prior", "%s", m.params.Prior.Kind)
	switch {
	case m.positive != noPositive:
		p.Line("decision", "%s iff its likelihood ratio is above %v", plain([]byte(m.params.Positive)), m.params.Ratio)
	case m.rule != nil:
		p.Line("decision", "least expected cost, with %s named", protocol.Counted(int64(m.rule.Pairs()), "pair"))
	case m.params.RejectBelow > 0:
		p.Line("decision", "largest posterior; none if it is below %v", m.params.RejectBelow)
	default:
		p.Line("decision", "largest posterior")
	}
}

func (m *model) describeTokenizer() string {
	p := m.params.Text
	words := "single words"
	if p.NgramMax > 1 {
		words = fmt.Sprintf("runs of %d to %d words", p.NgramMin, p.NgramMax)
	}
	if p.Lowercase {
		words += " in lower case"
	}
	if n := len(p.StopWords); n > 0 {
		words += ", without " + protocol.Counted(int64(n), "stop word")
	}
	return words
}

// pickClasses returns the named classes, or those with most documents.
func (m *model) pickClasses(p *describe.Page) ([]int, error) {
	if len(p.Names) > 0 {
		return p.Classes(m.labels.List(), 0)
	}
	classes := rank.Greatest(m.labels.Len(), func(y int) int64 { return m.documents[y] })
	return classes[:min(len(classes), describeClasses)], nil
}

// topWords returns the terms of greatest odds of each class, ties in dictionary order.
// Only terms that occur in the class are ranked.
func (m *model) topWords(classes []int, top int) [][]string {
	terms, odds := make([][]int, len(classes)), make([][]float64, len(classes))
	slot := make(map[int32]int, len(classes))
	for i, y := range classes {
		slot[int32(y)] = i
	}
	for term := range m.dictionary.Len() {
		class, count := m.counts.row(term)
		all := sums.Total(count)
		for i, y := range class {
			if s, ok := slot[y]; ok {
				terms[s], odds[s] = append(terms[s], term), append(odds[s], m.odds(count[i], all))
			}
		}
	}
	words := make([][]string, len(classes))
	for s := range words {
		order := rank.Greatest(len(terms[s]), func(i int) float64 { return odds[s][i] })
		for _, i := range order[:min(len(order), top)] {
			words[s] = append(words[s], plain(m.dictionary.Terms.At(terms[s][i])))
		}
	}
	return words
}

// odds is exp of the log-odds of a term that occurs count times in a class and all times
// altogether, but for a factor that is the same for all terms of the class.
func (m *model) odds(count, all int64) float64 {
	return (float64(count) + m.params.Alpha) / (float64(all-count) + m.params.Alpha)
}

// plain is text that cannot steer a terminal: what does not print is escaped.
func plain(text []byte) string {
	quoted := quote(string(text))
	if inner := quoted[1 : len(quoted)-1]; inner == string(text) {
		return inner
	}
	return quoted
}

func quote(s string) string { return strconv.Quote(s) }

// someOf quotes the first few of a list.
func someOf(list []string) string {
	const few = 5
	quoted := make([]string, 0, few)
	for _, s := range list[:min(len(list), few)] {
		quoted = append(quoted, quote(s))
	}
	if len(list) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(quoted, ", "), len(list)-few)
	}
	return strings.Join(quoted, ", ")
}
