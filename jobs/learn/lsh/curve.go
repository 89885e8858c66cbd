package lsh

import "fmt"

// Curve is an S-curve: the probability of a collision in at least one of some tables, by the distance.
type Curve struct {
	Family  Family
	Width   float64 // of the buckets; 0 where the family has none
	Tables  int
	Hashes  int // of each table
	Columns int // of the rows
}

// Functions is how many functions the tables have.
func (c Curve) Functions() int { return c.Tables * c.Hashes }

// Agree is the probability that one function agrees.
func (c Curve) Agree(d float64) float64 { return c.Family.Agree(d, c.Width, c.Columns) }

// At is the probability that two rows at the distance d collide in at least one table: 1 - (1 - p^k)^L.
func (c Curve) At(d float64) float64 { return some(power(c.Agree(d), c.Hashes), c.Tables) }

// some is the probability that at least one of n independent events of probability q comes.
func some(q float64, n int) float64 { return 1 - power(1-q, n) }

// power is x^n by squaring, for n of at least 0.
func power(x float64, n int) float64 {
	result := 1.0
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			result = float64(result * x)
		}
		x = float64(x * x)
	}
	return result
}

// String is the tables for people.
func (c Curve) String() string {
	text := fmt.Sprintf("%d hash tables of %d hashes", c.Tables, c.Hashes)
	if c.Family.Wide() {
		text += fmt.Sprintf(", width %.6g", c.Width)
	}
	return text
}

// Mean is the mean of At over distances, of which there is at least one.
func (c Curve) Mean(distances []float64) float64 {
	sum := 0.0
	for _, d := range distances {
		sum += c.At(d)
	}
	return sum / float64(len(distances))
}
