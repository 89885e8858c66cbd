package naivebayes

import (
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// unknown are the counts that the training documents of a leaf, or of all, miss.
type unknown struct {
	width int   // of a record; 0 before the first
	cells cells // documents that miss the count of a term, by class
}

// Fields lists them.
func (u *unknown) Fields(f *jobs.Fields) {
	f.Int(omitWidth, &u.width, 0, vocabulary.MaxColumns)
	u.cells.fields(f, "omit.missing")
}

// plus adds those to the right.
func (u *unknown) plus(v *unknown) (*unknown, error) {
	if u == nil || v == nil {
		if u != v {
			return nil, jobs.Malformed("counts of vectors with and without missing numbers")
		}
		return nil, nil
	}
	if u.width != v.width && u.width > 0 && v.width > 0 {
		return nil, protocol.InputFault(protocol.CodeBadRecord, "records of width %d and of width %d", u.width,
			v.width).WithHint("All records of a job, and those that its model predicts, have one width.")
	}
	return &unknown{max(u.width, v.width), u.cells.plus(v.cells)}, nil
}

// sameWidth refuses a block of vectors of another width.
func sameWidth(block *dataset.Block, width int) error {
	if got := block.Sparse.Width; len(block.IDs) > 0 && got != width {
		return block.IDs[0].Fault("the records are of width %d, not %d", got, width).
			WithHint("All records of a job, and those that its model predicts, have one width.")
	}
	return nil
}

// read reads a block, of the width of those before.
func (u *unknown) read(known *vocabulary.Known, block *dataset.Block) (*dataset.Block, error) {
	block, err := known.Read(block)
	if err != nil {
		return nil, err
	}
	if u.width == 0 {
		u.width = block.Sparse.Width
	}
	return block, sameWidth(block, u.width)
}

// addMissing counts the columns that a training document misses.
func (c *leafCounts) addMissing(block *dataset.Block, i int, columns []int32) {
	y := c.class[string(block.Labels[i])]
	for _, j := range columns {
		if int(j) < c.gone.places {
			c.gone.add(y, j, 1)
		}
	}
}

// leftOut takes terms that a record misses out of its scores. One goroutine.
type leftOut struct {
	known   []int64 // documents that do not miss the term of each cell
	reader  vocabulary.Known
	missing []int32   // terms of a record
	absent  []float64 // bernoulli: log(1 - p_jy) of each cell
	without []float64 // and of the cells that there are not, by class
	total   []int64   // other forms: occurrences in the class, or in the others
	log     []float64 // log(total + alpha n)
	rest    []int64   // scratch: total without the terms that a record misses
}

// newLeftOut gives the scorer the cells of the model and those of missing counts.
func (s *scorer) newLeftOut() {
	whole := *s.model
	s.left = &leftOut{}
	whole.counts, s.left.known = s.knownIn()
	s.model = &whole
	if s.params.Form == formBernoulli {
		s.left.absent, s.left.without = make([]float64, len(s.left.known)), make([]float64, s.labels.Len())
		return
	}
	in := make([]int64, s.labels.Len())
	for i, n := range s.counts.count {
		in[s.counts.class[i]] += n
	}
	if s.params.Form == formComplement {
		for y, all := 0, sums.Total(s.counts.count); y < len(in); y++ {
			in[y] = all - in[y]
		}
	}
	s.left.total, s.left.rest = in, make([]int64, len(in))
	for _, n := range in {
		s.left.log = append(s.left.log, fmath.Log(float64(n)+float64(s.params.Alpha*float64(s.dictionary.Len()))))
	}
}

// documentsOf is how many documents of a cell's class do not miss its term.
func (s *scorer) documentsOf(cell int) int64 {
	if s.left != nil {
		return s.left.known[cell]
	}
	return s.documents[s.counts.class[cell]]
}

// leaveOut corrects the scores of a bag for the terms that its record misses.
func (s *scorer) leaveOut(scores []float64, bag vocabulary.Bag, missing []int32) {
	switch {
	case len(missing) == 0:
	case s.params.Form == formBernoulli:
		s.leaveAbsence(scores, missing)
	default:
		s.leaveShare(scores, bag, missing)
	}
}

// leaveAbsence takes out the factors 1 - p_jy: the prior has those of all terms.
func (s *scorer) leaveAbsence(scores []float64, missing []int32) {
	for _, term := range missing {
		i, end := s.counts.indptr[term], s.counts.indptr[term+1]
		for y := range scores {
			if i < end && int(s.counts.class[i]) == y {
				scores[y] -= s.left.absent[i]
				i++
			} else {
				scores[y] -= s.left.without[y]
			}
		}
	}
}

// leaveShare divides by the sum of the probabilities of the other terms, once for each occurrence.
func (s *scorer) leaveShare(scores []float64, bag vocabulary.Bag, missing []int32) {
	occurrences := 0.0
	for _, n := range bag.Counts {
		occurrences += float64(n)
	}
	if occurrences == 0 {
		return // of no other term, too, whose sum is 0
	}
	rest := s.left.rest
	copy(rest, s.left.total)
	complement := s.params.Form == formComplement
	for _, term := range missing {
		class, count := s.counts.row(int(term))
		for i, n := range count {
			if complement {
				n = -n
			}
			rest[class[i]] -= n
		}
		if all := sums.Total(count); complement {
			for y := range rest {
				rest[y] -= all
			}
		}
	}
	smoothing := float64(s.params.Alpha * float64(s.dictionary.Len()-len(missing)))
	for y, n := range rest {
		share := fmath.Log(float64(n)+smoothing) - s.left.log[y]
		if complement {
			share = -share
		}
		scores[y] -= float64(occurrences * share)
	}
}

// missingTerms are the terms of the columns that record i of the block that was read misses.
func (l *leftOut) missingTerms(columns *vocabulary.Columns, i int) []int32 {
	l.missing = l.missing[:0]
	terms := columns.Terms()
	for _, j := range l.reader.Missing(i) {
		if int(j) < len(terms) && terms[j] >= 0 {
			l.missing = append(l.missing, terms[j])
		}
	}
	return l.missing
}
