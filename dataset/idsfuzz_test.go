package dataset

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// FuzzIDs reads arrays of ids of any bytes: valid ids, or a fault.
func FuzzIDs(f *testing.F) {
	f.Add([]byte(npyTexts(1, 3, "a", "b")), byte(0))
	f.Add([]byte(npyTexts(4, 3, "ä", "\U0001F600")), byte(1))
	f.Add(datasettest.NPY("<i8", "(2,)", []int64{1, -1}), byte(2))
	f.Add(datasettest.IDX(0x0c, []uint32{2}, []int32{17, -3}), byte(3))
	data := map[string]string{"npy": string(datasettest.NPY("<f4", "(2, 1)", []float32{1, 2})),
		"idx": string(datasettest.IDX(8, []uint32{2, 1}, []uint8{1, 2}))}
	f.Fuzz(func(t *testing.T, ids []byte, kind byte) {
		format := []string{"npy", "idx"}[kind%2]
		if len(ids) == 0 {
			return
		}
		files := map[string]string{"d/f": data[format], "i/f": string(ids)}
		all, _, err := readNamedIn(t, idsInput(format, idsURI), files)
		var fault *protocol.Fault
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("%v is no fault", err)
		}
		for _, n := range all {
			if bad := checkID([]byte(n.id.Object), 0); bad.reason != "" || n.id.Way() != ID {
				t.Fatalf("%v: %s", n.id, bad.reason)
			}
		}
	})
}

// FuzzDenseLibSVM reads lines of any bytes as sparse and as dense vectors with ids: the same records, names and values.
func FuzzDenseLibSVM(f *testing.F) {
	f.Add("a 1:1.5 3:-2 # x\nb#y\n\n# z\nc 2:0.1 #\nd 1:1 2:x # w\n", false)
	f.Add("a 3:1e9 # x\r\n", true)
	f.Fuzz(func(t *testing.T, data string, shifted bool) {
		one := 1
		in := idsInput("libsvm", func(in *protocol.Input) {
			in.Width, in.IndexBase, in.ID.Name = 3, &one, protocol.CommentID
		})
		in.OnBadRecord.SkipMax, in.Compression = math.MaxInt64, "none"
		if shifted {
			in.Subtract = map[string]float64{"2": 0.25}
		}
		files := map[string]string{"d/f": data}
		names, skipped, err := readNamedIn(t, in, files)
		sparse, _, _ := readFileIn(t, in, files)
		in.Dense = true
		namesAgain, skippedAgain, errAgain := readNamedIn(t, in, files)
		dense, _, _ := readFileIn(t, in, files)
		if !slices.Equal(names, namesAgain) || !slices.Equal(skipped, skippedAgain) ||
			(err == nil) != (errAgain == nil) || len(sparse) != len(dense) {
			t.Fatalf("sparse: %v %v %v; dense: %v %v %v", names, skipped, err, namesAgain, skippedAgain, errAgain)
		}
		for i, r := range sparse {
			want := make([]float32, 3)
			for k, col := range r.Indices {
				want[col] = r.Vector[k]
			}
			if !slices.Equal(dense[i].Vector, want) || dense[i].Label != r.Label {
				t.Fatalf("record %d: sparse %+v, dense %+v", i, r, dense[i])
			}
		}
	})
}

func readFileIn(t *testing.T, in protocol.Input, files map[string]string) ([]row, []Skip, error) {
	store := storeOf(t, files)
	m, shards, err := Plan(t.Context(), store, "d/", in)
	if err != nil {
		return nil, nil, err
	}
	s, err := NewSource(store, "d/", m, in)
	if err != nil {
		return nil, nil, err
	}
	return readRows(t.Context(), s, shards)
}
