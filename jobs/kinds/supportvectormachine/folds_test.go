package supportvectormachine

import (
	"fmt"
	"math"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// farRecords are records of two classes and two columns, of multiples of 1/64, so that an offset of up to 2^17 moves
// them without rounding. Names keep their folds.
func farRecords(offset float32) []jobstest.Record {
	records := groups(40, 2, 2)
	for i := range records {
		records[i].ID = fmt.Sprint(i)
		vector := make([]float32, len(records[i].Dense))
		for j, v := range records[i].Dense {
			vector[j] = float32(math.Round(float64(64*v)))/64 + offset
		}
		records[i].Dense = vector
	}
	return records
}

// With a linear kernel an offset of all records moves the bias alone, so the sigmoids stay. Float32 kernel values of
// records far from zero do not tell them apart: trained by these alone, folds have decisions that mean nothing. The
// machine without fold 4 has any bias of an interval of 0.04, so they agree to no more than 1e-2.
func TestProbabilitiesFarFromZero(t *testing.T) {
	const params = `{"kernel":"linear","probability":true,"tol":1e-6}`
	near, _ := train(t, params, farRecords(0))
	for _, offset := range []float32{1 << 10, 1 << 14, 1 << 17} {
		far, _ := train(t, params, farRecords(offset))
		a, b := near.sigmoid(0), far.sigmoid(0)
		if math.Abs(a.A-b.A) > 1e-2*math.Abs(a.A) || math.Abs(a.B-b.B) > 1e-2 {
			t.Errorf("offset %v: %+v, not %+v", offset, b, a)
		}
	}
}

// The decisions on a fold that are computed anew depend on blocks and kernel sets no more than others, and a fold may
// have all records of a class.
func TestProvedFoldsOfAnyBlocks(t *testing.T) {
	for _, kernel := range []string{"linear", "polynomial", "sigmoid"} {
		records := farRecords(3)
		for i := range records {
			if records[i].Label = "b"; i == 3 {
				records[i].Label = "c"
			} else if i%2 == 0 {
				records[i].Label = "a"
			}
		}
		want := ""
		for i, set := range kernelops.All() {
			params := fmt.Sprintf(`{"kernel":%q,"probability":true,"blocks":%d,"max_rounds":50}`, kernel, 1+3*i)
			result, err := tryRun(t, params, jobstest.Deal(records, i+1), set)
			if err != nil {
				t.Fatal(err)
			}
			if digest := jobstest.Digest(result.Model); want == "" {
				want = digest
			} else if digest != want {
				t.Errorf("%s, %s: another model", kernel, set.Name)
			}
		}
	}
}
