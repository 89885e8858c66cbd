package kernelops

// Smaller bases, or fewer queries, are not worth bytes.
const (
	leastByteQueries = 128
	leastByteRows    = 512
	leastByteCols    = 16
)

// What searches take, in nanoseconds on one core of a Xeon of family 6, model 106, on which float32 is fast beside
// bytes. Fitted by eye to the benchmarks of roads in jobs/kinds/knn.
const (
	floatQuery   = 15_000  // a query in float32
	floatFlop    = 1. / 48 // and for each row of the base and column
	productQuery = 10_000  // a query by products takes so much longer,
	productRow   = 3.5     // and for each row of the base
	trialTime    = 200_000 // to see whether bytes help
	trialCol     = 8_000   // and for each column
	byteQuery    = 7_000   // a query by bytes takes so much longer,
	byteFlop     = 1. / 96 // and gains as much for each row of the base and column
	bytePackRow  = 110     // to pack a row
	bytePackCol  = 2.2     // and for each column
	scoreRow     = 20      // to score a row in float64
	scoreCol     = 1. / 4  // and for each column
	// trialTimes: a trial is made only if float32 would take at least trialTimes as long.
	trialTimes = 20
)

// BytesPay reports whether a base and the number of queries are so large that it is worth to see whether rows of 8 bits
// help: beside the search by float32, that takes little.
func BytesPay(rows, cols, queries int, products bool) bool {
	query := float64(floatQuery) + float64(floatFlop*float64(rows*cols))
	if products {
		query += float64(productQuery) + float64(productRow*float64(rows))
	}
	return trialPays(rows, cols, queries, query)
}

// slowPays is BytesPay for distances that float32 cannot tell apart.
func slowPays(rows, cols, queries int) bool {
	return trialPays(rows, cols, queries, float64((scoreRow+float64(scoreCol*float64(cols)))*float64(rows)))
}

// trialPays does so for queries that take a time each.
func trialPays(rows, cols, queries int, query float64) bool {
	return queries >= leastByteQueries && rows >= leastByteRows && cols >= leastByteCols && cols <= byteCols &&
		float64(query*float64(queries)) >= float64(trialTimes*(trialTime+float64(trialCol*float64(cols))))
}

// distancesPay reports whether a search of distances by bytes takes less time than one by float32, if bytes help.
// Where rows are whole numbers, it always does; products, which are slow in float32, too.
func distancesPay(rows, cols, queries int) bool {
	gain := float64(byteFlop*float64(rows*cols)) - byteQuery
	pack := bytePackRow + float64(bytePackCol*float64(cols))
	return float64(gain*float64(queries)) >= float64(pack*float64(rows))
}

const (
	// fewSample is how many rows show what rows are like.
	fewSample = 16
	// slowShare is what share of distances the errors of float32 are where it cannot tell them apart.
	slowShare = 64
)

// seemWhole reports whether some of the rows are whole numbers from 0 to 255.
func seemWhole(y Matrix) bool {
	some := y.sample(fewSample)
	for i := range some.Rows {
		for _, v := range some.Row(i) {
			if !(v >= 0 && v <= 255 && v == float32(uint8(v))) { //lint:checked from 0 to 255
				return false
			}
		}
	}
	return true
}

// slowInFloat reports whether rows are so far from 0, as seen from each other, that float32 leaves many of them to be
// scored.
func slowInFloat(y Matrix) bool {
	some := y.sample(fewSample)
	square, apart := 0.0, 0.0
	for i := range some.Rows {
		row, other := some.Row(i), some.Row((i+1)%some.Rows)
		for j, v := range row {
			t := float64(v) - float64(other[j])
			square += float64(float64(v) * float64(v))
			apart += float64(t * t)
		}
	}
	each := square / float64(some.Rows)
	return !(each <= maxNorm/4 && float64(2*newFilter(y.Cols).relative*square) <= apart/slowShare)
}
