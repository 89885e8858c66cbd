package evaluation

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// maxRanked bounds the different scores that a ranking keeps, at 32 bytes each.
const maxRanked = 1 << 20

// Ranking counts records by their score, positive and negative ones apart: what the ROC curve and the figures that
// come from it need (Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27, 2006). All counts are
// integers.
//
// Where there are more different scores than it keeps, all are rounded down to as few bits less as it takes. How many
// that is follows from all records, whatever their order and grouping, since more records have no fewer different
// scores. Records whose rounded scores are equal count as ties, and AUC says how much that may have moved it.
//
// A ranking in parts rounds nothing. Where there are more different scores than it keeps, it keeps the highest, with
// all their records, and the lower ones are left to a further pass (Below). What is kept follows from all records,
// too: a score is among the highest of all only if it is among those of each group that has it.
type Ranking struct {
	most  int
	drop  int      // low bits that are 0 in every key
	list  []ranked // ascending, by place
	fresh []ranked // not in list yet

	parts bool  // keeps the highest scores
	cut   bool  // lower ones are left out
	below place // of a further pass: only lower places are taken; the zero value stands for all
}

// place is a score and the weight of records.
type place struct {
	key    uint64 // ascends with the score
	weight uint32 // ascends with the weight
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.key, q.key), cmp.Compare(p.weight, q.weight))
}

// ranked is how many records have a score and a weight.
type ranked struct {
	place
	negative, positive int64
}

// one is the weight 1.
var one = math.Float32bits(1)

// NewRanking returns a ranking of no records.
func NewRanking() *Ranking { return &Ranking{most: maxRanked} }

// NewRankingInParts returns a ranking of no records that keeps up to most of the different scores below a place, and
// rounds none.
func NewRankingInParts(most int, below place) *Ranking {
	return &Ranking{most: most, parts: true, below: below}
}

// Below is the place below which scores were left out; false if none was.
func (r *Ranking) Below() (place, bool) {
	if r.settle(); !r.cut {
		return place{}, false
	}
	return r.list[0].place, true
}

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
func (r *Ranking) Add(score float64, positive bool) { r.AddWeighted(score, positive, 1) }

// AddWeighted counts a record of a weight that is at least 0. Records of one score and different weights are counted
// apart, so that counts stay integers.
func (r *Ranking) AddWeighted(score float64, positive bool, weight float32) {
	record := ranked{place: place{keyOf(score), math.Float32bits(weight)}, negative: 1}
	if r.parts && !r.takes(record.place) {
		return
	}
	if positive {
		record.negative, record.positive = 0, 1
	}
	if r.fresh = append(r.fresh, record); len(r.fresh) > r.most {
		r.settle()
	}
}

// takes reports whether a place is still of interest to a ranking in parts.
func (r *Ranking) takes(p place) bool {
	if r.below != (place{}) && p.compare(r.below) >= 0 {
		return false
	}
	return !r.cut || p.compare(r.list[0].place) >= 0
}

// settle takes what is fresh into the list, and drops as many bits as that takes. O(n log n).
func (r *Ranking) settle() {
	all := append(r.list, r.fresh...)
	r.fresh = r.fresh[:0]
	for i := range all {
		all[i].key = all[i].key >> r.drop << r.drop
	}
	// total order: keys that are equal are joined
	slices.SortFunc(all, func(a, b ranked) int { return a.compare(b.place) })
	r.list = joinRanked(all)
	if more := len(r.list) - r.most; r.parts && more > 0 {
		r.list, r.cut = append(r.list[:0], r.list[more:]...), true
		return
	}
	for len(r.list) > r.most {
		r.drop++
		for i := range r.list {
			r.list[i].key = r.list[i].key >> r.drop << r.drop
		}
		r.list = joinRanked(r.list)
	}
}

// joinRanked joins neighbors of one place, where they are.
func joinRanked(list []ranked) []ranked {
	joined := list[:0]
	for _, v := range list {
		if n := len(joined); n > 0 && joined[n-1].place == v.place {
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
	r.drop, r.cut, r.fresh = max(r.drop, o.drop), r.cut || o.cut, append(r.fresh, o.list...)
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
	var keys, negative, positive []int64
	var weights []uint32
	if f.Reading() {
		r.most = maxRanked
	} else {
		r.settle()
		for _, v := range r.list {
			keys, weights = append(keys, int64(v.key)), append(weights, v.weight)
			negative, positive = append(negative, v.negative), append(positive, v.positive)
		}
		if !slices.ContainsFunc(weights, func(w uint32) bool { return w != one }) {
			weights = nil // as it is without weights
		}
	}
	f.Int(name+".drop", &r.drop, 0, 63)
	jobs.List(f, name+".keys", &keys)
	jobs.List(f, name+".negative", &negative, len(keys))
	jobs.List(f, name+".positive", &positive, len(keys))
	jobs.Optional(f, name+".weights", &weights, len(keys))
	if f.Has(name+".parts", r.parts) {
		r.partsFields(f, name)
	}
	if !f.Reading() {
		return
	}
	r.list = make([]ranked, len(keys))
	for i, key := range keys {
		r.list[i] = ranked{place{uint64(key), one}, negative[i], positive[i]}
		if weights != nil {
			r.list[i].weight = weights[i]
		}
	}
	f.Check(r.check)
}

// partsFields lists what only a ranking in parts has.
func (r *Ranking) partsFields(f *jobs.Fields, name string) {
	r.parts = true
	f.Int(name+".parts", &r.most, 1, maxRanked)
	jobs.Flag[int32](f, name+".cut", &r.cut)
	r.below.fields(f, name+".below")
}

func (p *place) fields(f *jobs.Fields, name string) {
	key, weight := int64(p.key), int64(p.weight)
	jobs.Tuple(f, name, &key, &weight)
	if f.Reading() {
		*p = place{uint64(key), uint32(weight)}
	}
}

// check refuses counts that a ranking does not leave.
func (r *Ranking) check() error {
	const most = 1 << 40
	for i, v := range r.list {
		if v.key>>r.drop<<r.drop != v.key || i > 0 && v.compare(r.list[i-1].place) <= 0 ||
			min(v.negative, v.positive) < 0 || max(v.negative, v.positive) > most || v.negative+v.positive == 0 ||
			v.weight >= math.Float32bits(float32(math.Inf(1))) {
			return jobs.Malformed("a ranking with %d and %d records at place %d", v.negative, v.positive, i)
		}
	}
	if len(r.list) > maxRanked || r.parts && (r.drop != 0 || r.cut && len(r.list) != r.most) {
		return jobs.Malformed("a ranking of %d scores", len(r.list))
	}
	return nil
}
