package dataset_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
)

// csvSource puts a csv of testdata, or another format, into a store and plans it.
func csvSource(tb testing.TB, key string, data []byte, in protocol.Input) (*dataset.Source, []dataset.Shard) {
	tb.Helper()
	store := mem.New("data")
	if _, err := store.Put(context.Background(), key, data); err != nil {
		tb.Fatal(err)
	}
	in.URI, in.Format = "mem://data/"+key, cmp.Or(in.Format, "csv")
	in = in.WithDefaults()
	m, shards, err := dataset.Plan(context.Background(), store, key, in)
	if err != nil {
		tb.Fatal(err)
	}
	source, err := dataset.NewSource(store, "", m, in)
	if err != nil {
		tb.Fatal(err)
	}
	return source, shards
}

// Shapes, counts of labels and sums of the float32 values, in float64 and in order, were taken by
// Python's csv and struct.
func TestRealFiles(t *testing.T) {
	for _, c := range []struct {
		key            string
		label          int
		header         bool
		records, width int
		sum            float64
		labels, zeros  int // distinct labels, and records of the first
		first          string
	}{
		{"digits.csv.gz", 65, false, 1797, 64, 561718, 10, 178, "0"},
		{"iris.csv", 5, true, 150, 4, 2078.69999640435, 3, 50, "0"},
		{"wine_data.csv", 14, true, 178, 13, 159975.29599502683, 3, 59, "0"},
		{"breast_cancer.csv", 31, true, 569, 30, 1056474.4601555474, 2, 212, "0"},
		{"geonames-cities.csv.gz", 4, true, 135233, 3, 3138011160.991054, 246, 10, "AD"},
	} {
		data, err := os.ReadFile("../testdata/" + c.key)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []protocol.ByteSize{64 << 20, 3000} {
			source, shards := csvSource(t, c.key, data,
				protocol.Input{Label: protocol.Column{Number: c.label}, Header: c.header, ShardBytes: size})
			records, sum, labels := 0, 0.0, map[string]int{}
			for _, shard := range shards {
				for b, err := range source.Blocks(t.Context(), shard) {
					if err != nil {
						t.Fatal(err)
					}
					if b.Dense.Width != c.width {
						t.Fatalf("%s: vectors of %d, want %d", c.key, b.Dense.Width, c.width)
					}
					records += len(b.IDs)
					for _, v := range b.Dense.Values {
						sum += float64(v)
					}
					for _, label := range b.Labels {
						labels[string(label)]++
					}
				}
			}
			if records != c.records || sum != c.sum || len(labels) != c.labels || labels[c.first] != c.zeros {
				t.Errorf("%s in %d shards: %d records, sum %v, %d labels, %d of %s; want %+v", c.key, len(shards),
					records, sum, len(labels), labels[c.first], c.first, c)
			}
		}
	}
}

// BenchmarkCSV reads the digits' rows, forty times over, as plain text: as they are, with some values of eight digits,
// and with values of 17 digits throughout.
func BenchmarkCSV(b *testing.B) {
	stored, err := os.ReadFile("../testdata/digits.csv.gz")
	if err != nil {
		b.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		b.Fatal(err)
	}
	plain, err := io.ReadAll(zip)
	if err != nil {
		b.Fatal(err)
	}
	decimals := strings.ReplaceAll(string(plain), ",1", ",-0.12345678")
	count := 0
	reals := regexp.MustCompile(`\d+,`).ReplaceAllStringFunc(string(plain), func(field string) string {
		count++
		return fmt.Sprintf("%.17g,", 10*math.Sin(float64(count)))
	})
	for name, data := range map[string]string{"integers": string(plain), "decimals": decimals, "reals": reals} {
		b.Run(name, func(b *testing.B) {
			text := bytes.Repeat([]byte(data), 40)
			source, shards := csvSource(b, "digits.csv", text, protocol.Input{Label: protocol.Column{Number: 65}})
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for _, shard := range shards {
					for _, err := range source.Blocks(b.Context(), shard) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			}
		})
	}
}

// BenchmarkLibSVM reads the digits' pixels that are not 0, forty times over: as they are, and with six decimals.
func BenchmarkLibSVM(b *testing.B) {
	r, base := rand.New(rand.NewPCG(1, 1)), 1
	for name, value := range map[string]func() string{
		"integers": func() string { return strconv.Itoa(1 + r.IntN(16)) },
		"decimals": func() string { return strconv.FormatFloat(r.Float64(), 'f', 6, 64) },
	} {
		b.Run(name, func(b *testing.B) {
			var text bytes.Buffer
			for range 70_000 {
				text.WriteString("+1")
				for column := 1; column < 65; column += 1 + r.IntN(3) {
					fmt.Fprintf(&text, " %d:%s", column, value())
				}
				text.WriteByte('\n')
			}
			source, shards := csvSource(b, "f", text.Bytes(),
				protocol.Input{Format: "libsvm", IndexBase: &base, Width: 64})
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				for _, shard := range shards {
					for _, err := range source.Blocks(b.Context(), shard) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			}
		})
	}
}
