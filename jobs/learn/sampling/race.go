package sampling

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/kernelops/philox"
)

// Race gives records their times in one race: one seed and one purpose. It is not safe for concurrent use.
type Race struct {
	key   philox.Key
	draws *dataset.Draws
}

// NewRace prepares the race of a purpose, such as "kmeans/init/0/1". Two draws that must
// not depend on each other have two purposes.
func NewRace(seed uint64, purpose string) *Race {
	key := philox.New(seed, purpose)
	return &Race{key: key, draws: dataset.NewDraws(key)}
}

// slack is more than what the quotient and the logarithm of a time can err by, relatively.
const slack = 1e-9

// Time returns when a record of that weight arrives, +Inf for a weight that is not above 0. Times that are surely
// later than limit may come out as +Inf: most records of a large set are then spared the logarithm.
func (r *Race) Time(id dataset.Identity, weight, limit float64) float64 {
	if !(weight > 0) {
		return math.Inf(1)
	}
	return Arrival(r.Chance(id), weight, limit)
}

// Chance returns the number in [0, 1) that decides when a record arrives, given its weight.
func (r *Race) Chance(id dataset.Identity) float64 { return r.draws.Float64(id) }

// NumberTime is Time for what a number names in place of a record.
func (r *Race) NumberTime(number uint64, weight, limit float64) float64 {
	if !(weight > 0) {
		return math.Inf(1)
	}
	return Arrival(r.key.Float64(number, 0), weight, limit)
}

// Arrival is Time by a record's chance: -log(1-v) / weight, which is at least v / weight.
func Arrival(v, weight, limit float64) float64 {
	if !(weight > 0) || Late(v, weight, limit) {
		return math.Inf(1)
	}
	return -fmath.Log(1-v) / weight
}

// Late reports whether a record of that chance and weight, or of a lower weight, surely arrives later than limit, or
// than an earlier one.
func Late(v, weight, limit float64) bool { return v > float64(limit*weight)*(1+slack) }
