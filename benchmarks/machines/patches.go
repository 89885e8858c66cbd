package main

import "github.com/gram-compute/gram/kernelops/philox"

// The shape of a record.
const (
	numbers = 10
	areas   = 4
	soils   = 40
	columns = numbers + areas + soils
)

// How hard the classes are to tell apart.
const (
	patchRecords = 64   // of a patch, on average
	spread       = 0.18 // of the numbers of a patch, whose centers are within 0 and 1
	flipped      = 0.04 // part of the labels
)

// patches are where records lie. Each has a center, an area, a soil and a class.
type patches struct {
	count            uint64
	centers, records philox.Key
}

func newPatches(records int) patches {
	return patches{count: uint64(max(1, records/patchRecords)), centers: philox.New(41, "machines/patches"),
		records: philox.New(41, "machines/records")}
}

// record writes record i and returns its label.
func (p patches) record(row []float32, i uint64) int64 {
	clear(row)
	which, noise := p.records.Block(i, 0)
	patch := which % p.count
	for j := range numbers {
		// The sum of four uniform numbers is near enough to a normal one, and the same on every machine.
		sum := -2.0
		for k := range 4 {
			sum += p.records.Float64(i, uint64(1+4*j+k))
		}
		row[j] = float32(p.centers.Float64(patch, uint64(2+j)) + float64(spread*sum))
	}
	place, class := p.centers.Block(patch, 0)
	row[numbers+place%areas] = 1
	row[numbers+areas+place>>32%soils] = 1
	label := int64(class & 1)
	if float64(float64(noise>>11)*0x1p-53) < flipped {
		label = 1 - label
	}
	return label
}
