package evaluation

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// maxRanked bounds the different scores that a ranking keeps, at 24 bytes each.
const maxRanked = 1 << 20

// Ranking counts records by their score, positive and negative ones apart: what the ROC curve and the figures that
// come from it need (Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27, 2006). All counts are
// integers.
//
// Where there are more different scores than it keeps, all are rounded down to as few bits less as it takes. How many
// that is follows from all records, whatever their order and grouping, since more records have no fewer different
// scores. Records whose rounded scores are equal count as ties, and AUC says how much that may have moved it.
type Ranking struct {
	most  int
	drop  int      // low bits that are 0 in every key
	list  []ranked // ascending by key, which differ
	fresh []ranked // not in list yet
}

// ranked is how many records have a score.
type ranked struct {
	key                uint64 // ascends with the score
	negative, positive int64
}

// NewRanking returns a ranking of no records.
func NewRanking() *Ranking { return &Ranking{most: maxRanked} }

// keyOf ascends with the score; those of -0 and 0 are equal.
func keyOf(score float64) uint64 {
	bits := math.Float64bits(score + 0)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

// scoreOf is the inverse of keyOf.
func scoreOf(key uint64) float64 {
	if key>>63 == 0 {
		return math.Float64frombits(^key)
	}
	return math.Float64frombits(key &^ (1 << 63))
}

// Add counts a record. The score is no NaN.
func (r *Ranking) Add(score float64, positive bool) {
	one := ranked{key: keyOf(score), negative: 1}
	if positive {
		one.negative, one.positive = 0, 1
	}
	if r.fresh = append(r.fresh, one); len(r.fresh) > r.most {
		r.settle()
	}
}

// settle takes what is fresh into the list, and drops as many bits as that takes. O(n log n).
func (r *Ranking) settle() {
	all := append(r.list, r.fresh...)
	r.fresh = r.fresh[:0]
	for i := range all {
		all[i].key = all[i].key >> r.drop << r.drop
	}
	// total order: keys that are equal are joined
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.key, b.key) })
	r.list = joinRanked(all)
	for len(r.list) > r.most {
		r.drop++
		for i := range r.list {
			r.list[i].key = r.list[i].key >> r.drop << r.drop
		}
		r.list = joinRanked(r.list)
	}
}

// joinRanked joins neighbors of one key, in place.
func joinRanked(list []ranked) []ranked {
	joined := list[:0]
	for _, v := range list {
		if n := len(joined); n > 0 && joined[n-1].key == v.key {
			joined[n-1].negative += v.negative
			joined[n-1].positive += v.positive
			continue
		}
		joined = append(joined, v)
	}
	return joined
}

// Plus takes in the records of another ranking.
func (r *Ranking) Plus(o *Ranking) {
	r.settle()
	o.settle()
	r.drop, r.fresh = max(r.drop, o.drop), append(r.fresh, o.list...)
	r.settle()
}

// Counts are how many records there are.
func (r *Ranking) Counts() (negative, positive int64) {
	r.settle()
	for _, v := range r.list {
		negative, positive = negative+v.negative, positive+v.positive
	}
	return negative, positive
}

// AUC is the share of the pairs of a positive and a negative record in which the positive one has the higher score,
// where a tie counts half: the area under the ROC curve (Hanley and McNeil, Radiology 143, 1982). It is an integer over
// an integer, rounded once. within is how far it may be from that of scores that were not rounded, 0 where none was. ok
// is false where there is no pair.
func (r *Ranking) AUC() (auc, within float64, ok bool) {
	negative, positive := r.Counts()
	if negative == 0 || positive == 0 {
		return 0, 0, false
	}
	twice, ties, below := new(big.Int), new(big.Int), int64(0)
	product := func(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }
	for _, v := range r.list {
		tied := product(v.positive, v.negative)
		twice.Add(twice, product(v.positive, 2*below)).Add(twice, tied)
		ties.Add(ties, tied)
		below += v.negative
	}
	pairs := product(2*negative, positive)
	auc, _ = new(big.Rat).SetFrac(twice, pairs).Float64()
	if r.drop > 0 {
		within, _ = new(big.Rat).SetFrac(ties, pairs).Float64()
	}
	return auc, within, true
}

// PrecisionAt, of a ranking that is not empty, is the share of positive records among the k of highest scores; of those
// that tie with the last of them, as many as their share says. k is at least 1, and at most all.
func (r *Ranking) PrecisionAt(k int64) float64 {
	negative, positive := r.Counts()
	k = max(1, min(k, negative+positive))
	above, found := int64(0), int64(0)
	for i := len(r.list) - 1; ; i-- {
		v := r.list[i]
		n := v.positive + v.negative
		if above+n < k {
			above, found = above+n, found+v.positive
			continue
		}
		last := new(big.Rat).Mul(big.NewRat(v.positive, n), big.NewRat(k-above, 1))
		share, _ := last.Add(last, big.NewRat(found, 1)).Quo(last, big.NewRat(k, 1)).Float64()
		return share
	}
}

// Threshold is the least score that at most as many records are above as a share of all of them and one more: then a
// further record of their kind is above it with a probability of at most that share, if all are drawn alike (Vovk,
// Gammerman and Shafer, Algorithmic Learning in a Random World, 2005, section 2.1). ok is false if there are too few
// records for any.
func (r *Ranking) Threshold(share float64) (threshold float64, ok bool) {
	negative, positive := r.Counts()
	n := negative + positive
	rank := n + 1 - int64(float64(share*float64(n+1))) //lint:checked a share of the records
	if rank > n || n == 0 {
		return 0, false
	}
	reached := int64(0)
	for _, v := range r.list {
		if reached += v.negative + v.positive; reached >= rank {
			return scoreOf(v.key | (1<<r.drop - 1)), true // the highest that may have been rounded to it
		}
	}
	return 0, false
}

// maxPoints bounds the points of a curve.
const maxPoints = 200

// Curve is the ROC curve: from the highest score down, the shares of negative and of positive records that are above.
// Longer ones are thinned out.
func (r *Ranking) Curve() (curve [][2]float64) {
	negative, positive := r.Counts()
	curve = append(curve, [2]float64{})
	step := max(1, (len(r.list)+maxPoints-1)/maxPoints)
	var n, p int64
	for i := len(r.list) - 1; i >= 0; i-- {
		n, p = n+r.list[i].negative, p+r.list[i].positive
		if i%step == 0 {
			curve = append(curve, [2]float64{ratio(n, negative), ratio(p, positive)})
		}
	}
	return curve
}

// Fields lists the counts under names that begin with that one.
func (r *Ranking) Fields(f *jobs.Fields, name string) {
	r.most = maxRanked
	var keys, negative, positive []int64
	if !f.Reading() {
		r.settle()
		for _, v := range r.list {
			keys = append(keys, int64(v.key))
			negative, positive = append(negative, v.negative), append(positive, v.positive)
		}
	}
	f.Int(name+".drop", &r.drop, 0, 63)
	jobs.List(f, name+".keys", &keys)
	jobs.List(f, name+".negative", &negative, len(keys))
	jobs.List(f, name+".positive", &positive, len(keys))
	if !f.Reading() {
		return
	}
	r.list = make([]ranked, len(keys))
	for i, key := range keys {
		r.list[i] = ranked{uint64(key), negative[i], positive[i]}
	}
	f.Check(r.check)
}

// check refuses counts that a ranking does not leave.
func (r *Ranking) check() error {
	const most = 1 << 40
	for i, v := range r.list {
		if v.key>>r.drop<<r.drop != v.key || i > 0 && v.key <= r.list[i-1].key || min(v.negative, v.positive) < 0 ||
			max(v.negative, v.positive) > most || v.negative+v.positive == 0 {
			return jobs.Malformed("a ranking with %d and %d records at place %d", v.negative, v.positive, i)
		}
	}
	if len(r.list) > maxRanked {
		return jobs.Malformed("a ranking of %d scores", len(r.list))
	}
	return nil
}
