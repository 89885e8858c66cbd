package naivebayes

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
)

const (
	describeClasses = 8  // classes shown unless named
	describeTop     = 10 // words per class unless told
)

// Describe tells people what a model is, within 80 columns: its parameters, and the words
// that tell each class from the rest. Those are ranked by smoothed log-odds,
//
//	log p(w|y) - log p(w|not y),  p(w|not y) = (c_w - c_wy + alpha) / (w - w_y + alpha n),
//
// and not by p(w|y), which would list the same frequent words for every class. A named class
// that the model lacks is a *protocol.Fault of CodeSpecInvalid.
func Describe(arrays jobs.Arrays, opt jobs.DescribeOptions) (string, error) {
	m, err := readModel(arrays)
	if err != nil {
		return "", err
	}
	classes, err := m.pickClasses(opt.Classes)
	if err != nil {
		return "", err
	}
	top := opt.Top
	if top <= 0 {
		top = describeTop
	}
	var b strings.Builder
	m.describeHead(&b)
	fmt.Fprintf(&b, "\nWords that tell a class from the rest, by smoothed log-odds:\n")
	words := m.topWords(classes, top)
	for i, y := range classes {
		fmt.Fprintf(&b, "\n%s (%s)\n", describe.Clip(plain(m.labels.At(y)), describe.Width-30),
			plural(m.documents[y], "document"))
		describe.Wrap(&b, listed(words[i]))
	}
	if len(opt.Classes) == 0 && len(classes) < m.labels.Len() {
		fmt.Fprintf(&b, "\n%d of %d classes shown; name others to see them.\n", len(classes), m.labels.Len())
	}
	return b.String(), nil
}

func (m *model) describeHead(b *strings.Builder) {
	documents, tokens := int64(0), int64(0)
	for _, n := range m.documents {
		documents += n
	}
	for _, n := range m.counts.count {
		tokens += n
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-12s %s\n", name, describe.Clip(fmt.Sprintf(format, args...), describe.Width-13))
	}
	line("kind", "%s (%s)", KindName, m.params.Form)
	line("classes", "%d", m.labels.Len())
	what := "occurrences of known terms"
	if m.params.Form == formBernoulli {
		what = "pairs of a document and a known term"
	}
	line("documents", "%d, with %d %s", documents, tokens, what)
	line("dictionary", "%s, %s", plural(int64(m.dictionary.Len()), "term"), m.describeTokenizer())
	if m.growth != nil {
		line("grows", "yes: a job may add records to it")
	}
	line("alpha", "%v", m.params.Alpha)
	line("prior", "%s", m.params.Prior.Kind)
	switch {
	case m.positive != noPositive:
		line("decision", "%s iff its likelihood ratio is above %v", plain([]byte(m.params.Positive)), m.params.Ratio)
	case m.rule != nil:
		line("decision", "least expected cost, with %s named", plural(int64(m.rule.Pairs()), "pair"))
	case m.params.RejectBelow > 0:
		line("decision", "largest posterior; none if it is below %v", m.params.RejectBelow)
	default:
		line("decision", "largest posterior")
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
		words += ", without " + plural(int64(n), "stop word")
	}
	return words
}

// pickClasses returns the named classes, or those with most documents.
func (m *model) pickClasses(names []string) ([]int, error) {
	classes, err := describe.Classes(m.labels.List(), names, m.labels.Len())
	if err != nil || len(names) > 0 {
		return classes, err
	}
	// total order: classes differ
	slices.SortFunc(classes, func(x, y int) int {
		return cmp.Or(cmp.Compare(m.documents[y], m.documents[x]), cmp.Compare(x, y))
	})
	return classes[:min(len(classes), describeClasses)], nil
}

// ranked is a term with its odds.
type ranked struct {
	term int
	odds float64
}

// topWords returns the terms of greatest odds of each class, ties in dictionary order.
// Only terms that occur in the class are ranked.
func (m *model) topWords(classes []int, top int) [][]string {
	lists := make([][]ranked, len(classes))
	slot := make(map[int32]int, len(classes))
	for i, y := range classes {
		slot[int32(y)] = i
	}
	for term := range m.dictionary.Len() {
		class, count := m.counts.row(term)
		all := int64(0)
		for _, n := range count {
			all += n
		}
		for i, y := range class {
			if s, ok := slot[y]; ok {
				lists[s] = append(lists[s], ranked{term, m.odds(count[i], all)})
			}
		}
	}
	words := make([][]string, len(classes))
	for i, list := range lists {
		// total order: terms differ
		slices.SortFunc(list, func(a, b ranked) int {
			return cmp.Or(cmp.Compare(b.odds, a.odds), cmp.Compare(a.term, b.term))
		})
		for _, r := range list[:min(len(list), top)] {
			words[i] = append(words[i], plain(m.dictionary.Terms.At(r.term)))
		}
	}
	return words
}

// odds is exp of the log-odds of a term that occurs count times in a class and all times
// altogether, but for a factor that is the same for all terms of the class.
func (m *model) odds(count, all int64) float64 {
	return (float64(count) + m.params.Alpha) / (float64(all-count) + m.params.Alpha)
}

// listed has a comma behind each word but the last.
func listed(words []string) []string {
	for i := range words {
		words[i] = describe.Clip(words[i], describe.Width-5)
		if i < len(words)-1 {
			words[i] += ","
		}
	}
	return words
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

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

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
