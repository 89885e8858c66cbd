package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/protocol"
)

// noticed reads all of one object in one shard, and adds up its notes by column name.
func noticed(t testing.TB, in protocol.Input, data string) (map[string]Rounding, []row, *Block, error) {
	t.Helper()
	in.ShardBytes = 1 << 30
	s, shards, err := openInput(storeOf(t, map[string]string{"f": data}), in)
	if err != nil {
		return nil, nil, nil, err
	}
	found, rows, last := map[string]Rounding{}, []row(nil), &Block{}
	for _, shard := range shards {
		for block, err := range s.Blocks(t.Context(), shard) {
			if err != nil {
				return nil, nil, nil, err
			}
			some, err := rowsOf(block)
			if err != nil {
				t.Fatal(err)
			}
			rows, last = append(rows, some...), &Block{Subtracted: block.Subtracted}
			if block.Notes == nil {
				continue
			}
			for _, r := range block.Notes.Rounded {
				sum, ok := found[r.Name]
				if ok {
					r.Moved, r.Low, r.High = r.Moved+sum.Moved, min(r.Low, sum.Low), max(r.High, sum.High)
				}
				found[r.Name] = r
			}
		}
	}
	return found, rows, last, nil
}

// Unix seconds are multiples of 128 in float32 (1.7e9 lies between 2^30 and 2^31): 1700000001 and ...002 become
// 1700000000, and 1700000090 becomes 1700000128.
func TestRoundingByHand(t *testing.T) {
	csv := formatInput("csv", func(in *protocol.Input) { in.Header, in.Label.Name = true, "class" })
	plain := formatInput("csv", nil)
	jsonl := formatInput("jsonl", func(in *protocol.Input) {
		in.Features = []protocol.Column{{Name: "t"},
			{Name: "/v"}}
	})
	seconds := Rounding{Moved: 3, Low: -38, High: 2, Equal: [2]string{"1700000001", "1700000002"}}
	named := func(r Rounding, column int, name string) Rounding {
		r.Column, r.Name = column, name
		return r
	}
	float64s, int64s := []float64{1700000001, 1700000002, 1700000090}, []int64{1700000001, 1700000002, 1700000090}
	for _, c := range []struct {
		name string
		in   protocol.Input
		data string
		want map[string]Rounding
	}{
		{"csv", csv, "time,x,class\n1700000001,1,a\n1700000002,2,b\n1700000090,3,a\n",
			map[string]Rounding{`"time"`: named(seconds, 0, `"time"`)}},
		{"csv without a header", plain, "1,1700000001\n2,1700000002\n3,1700000090\n",
			map[string]Rounding{"2": named(seconds, 1, "2")}},
		{"jsonl", jsonl, `{"t":1,"v":[2,1700000001]}` + "\n" + `{"t":1,"v":[2,1700000002]}` + "\n" +
			`{"t":1,"v":[2,1700000090]}` + "\n",
			map[string]Rounding{`"/v/1"`: named(seconds, 2, `"/v/1"`)}},
		{"libsvm", libsvmInput(1, 9), "a 7:1700000001\nb 7:1700000002\na 7:1700000090\n",
			map[string]Rounding{"7": named(seconds, 6, "7")}},
		{"npy of float64", formatInput("npy", nil), string(datasettest.NPY("<f8", "(3, 1)", float64s)),
			map[string]Rounding{"1": named(seconds, 0, "1")}},
		{"npy of int64", formatInput("npy", nil), string(datasettest.NPY("<i8", "(3, 1)", int64s)),
			map[string]Rounding{"1": named(seconds, 0, "1")}},
		{"npz", formatInput("npz", func(in *protocol.Input) { in.Features = []protocol.Column{{Name: "X"}} }),
			string(datasettest.NPZ(true, datasettest.Array{Name: "X", NPY: datasettest.NPY("<i8", "(3, 1)", int64s)})),
			map[string]Rounding{"1": named(seconds, 0, "1")}},
		{"npy of float32 holds float32s", formatInput("npy", nil),
			string(datasettest.NPY("<f4", "(2, 1)", []float32{0.1, 1.7e9})), nil},
		{"whole numbers up to 2^24", plain, "16777215,1\n16777216,2\n", nil},
		{"halves", plain, "0.5,1\n-2.25,2\n", nil},
		{"nanoseconds, the same float64", formatInput("npy", nil),
			string(datasettest.NPY("<i8", "(2, 1)", []int64{1700000000000000001, 1700000000000000002})),
			map[string]Rounding{"1": { // the float32 is 1700000007681212416
				Name: "1", Moved: 2, Low: -7681212415, High: -7681212414,
				Equal: [2]string{"1700000000000000001", "1700000000000000002"}}}},
		{"a constant", plain, "0.1,1\n0.1,2\n",
			map[string]Rounding{"1": {Name: "1", Moved: 2, Low: 0.1 - float64(float32(0.1)),
				High: 0.1 - float64(float32(0.1))}}},
	} {
		got, _, _, err := noticed(t, c.in, c.data)
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%s: %+v, want %+v", c.name, got[name], want)
			}
		}
	}
}

// A column that spreads over more than a thousandth of its values needs no watching after a block; one that does not
// is watched to its end.
func TestQuietColumns(t *testing.T) {
	var data strings.Builder
	const rows = 3 * blockRecords
	for i := range rows {
		fmt.Fprintf(&data, "%.3f,%.3f,%d\n", 1000+float64(i%100)*0.1, 1000+float64(i%7)*0.001, i)
	}
	got, _, _, err := noticed(t, formatInput("csv", nil), data.String())
	if err != nil {
		t.Fatal(err)
	}
	if r := got["1"]; r.Moved == 0 || r.Moved > settledBy {
		t.Errorf("the wide column: %+v; want it watched for a moment", r)
	}
	if r := got["2"]; r.Moved != rows-(rows+6)/7 { // all but 1000.000
		t.Errorf("the narrow column: %+v; want %d", r, rows-(rows+6)/7)
	}
	if r, ok := got["3"]; ok {
		t.Errorf("whole numbers: %+v", r)
	}
}

// A value minus an offset is what exact arithmetic gives, rounded once, in every format; no value is moved any more.
func TestSubtractByHand(t *testing.T) {
	of := func(format, key string, set func(*protocol.Input)) protocol.Input {
		return formatInput(format, func(in *protocol.Input) {
			in.Subtract = map[string]float64{key: 1700000000}
			if set != nil {
				set(in)
			}
		})
	}
	base, width := 1, 9
	libsvm := of("libsvm", "7", func(in *protocol.Input) { in.IndexBase, in.Width = &base, width })
	zero := 0
	libsvm0 := of("libsvm", "0", func(in *protocol.Input) { in.IndexBase, in.Width = &zero, width })
	headed := of("csv", "time", func(in *protocol.Input) { in.Header = true })
	nano := formatInput("npy", func(in *protocol.Input) { in.Subtract = map[string]float64{"1": 1700000000000000000} })
	nanoText := formatInput("csv",
		func(in *protocol.Input) { in.Subtract = map[string]float64{"1": 1700000000000000000} })
	for _, c := range []struct {
		name string
		in   protocol.Input
		data string
		want []float32 // of all rows
		col  int
	}{
		{"csv by name", headed, "x,time\n1,1700000001\n2,1700000002.5\n", []float32{1, 1, 2, 2.5}, 1},
		{"csv by number", of("csv", "2", nil), "1,1700000001\n2,\" 1700000090 \"\n", []float32{1, 1, 2, 90}, 1},
		{"csv, another order of features", of("csv", "3", func(in *protocol.Input) { in.Features = columns(3, 1) }),
			"1,x,1700000001\n", []float32{1, 1}, 0},
		{"short numbers too", of("csv", "1", nil), "0.5\n-1\n", []float32{-1700000000, -1700000000}, 0},
		{"jsonl by name", of("jsonl", "t",
			func(in *protocol.Input) {
				in.Features = []protocol.Column{{Name: "x"},
					{Name: "t"}}
			}), `{"t":1700000001,"x":5}` + "\n", []float32{5, 1}, 1},
		{"jsonl by place", of("jsonl", "/v/1",
			func(in *protocol.Input) { in.Features = []protocol.Column{{Name: "v"}} }), `{"v":[5,1700000001]}` + "\n",
			[]float32{5, 1}, 1},
		{"npy of float64", of("npy", "2", nil), string(datasettest.NPY("<f8", "(1, 2)", []float64{5, 1700000001})),
			[]float32{5, 1}, 1},
		{"npy of float32", of("npy", "2", nil), string(datasettest.NPY("<f4", "(1, 2)", []float32{5, 1700000128})),
			[]float32{5, 128}, 1},
		{"npy of bytes", of("npy", "1", nil), string(datasettest.NPY("|u1", "(1, 1)", []uint8{5})),
			[]float32{-1700000000}, 0},
		{"npy of uint32", of("npy", "1", nil), string(datasettest.NPY("<u4", "(1, 1)", []uint32{1700000005})),
			[]float32{5}, 0},
		{"npz", of("npz", "1", func(in *protocol.Input) { in.Features = []protocol.Column{{Name: "X"}} }),
			string(datasettest.NPZ(true, datasettest.Array{Name: "X",
				NPY: datasettest.NPY("<f8", "(1, 1)", []float64{1700000001})})), []float32{1}, 0},
		{"idx", of("idx", "1", nil), string(datasettest.IDX(0x0c, []uint32{1, 1}, []int32{1700000001})), []float32{1},
			0},
		{"ivecs", of("ivecs", "1", nil), string(datasettest.Vecs(1, []int32{1700000001})), []float32{1}, 0},
		{"libsvm", libsvm, "a 7:1700000001\nb 1:5 9:1\n", []float32{1, 5, -1700000000, 1}, 6},
		{"libsvm from 0", libsvm0, "a 0:1700000001\nb 3:2\n", []float32{1, -1700000000, 2}, 0},
		{"nanoseconds", nano, string(datasettest.NPY("<i8", "(2, 1)",
			[]int64{1700000000000000001, 1700000000000000002})), []float32{1, 2}, 0},
		{"nanoseconds in text", nanoText, "1700000000000000001\n1700000000000000002\n", []float32{1, 2}, 0},
	} {
		found, rows, block, err := noticed(t, c.in, c.data)
		var values []float32
		for _, r := range rows {
			values = append(values, r.Vector...)
		}
		if err != nil || !slices.Equal(values, c.want) || len(block.Subtracted) != 1 ||
			block.Subtracted[0].Column != c.col {
			t.Errorf("%s: %v, %+v, %v; want %v off column %d", c.name, values, block, err, c.want, c.col)
		}
		for name, r := range found {
			if c.name != "short numbers too" && r.Equal[0] != "" {
				t.Errorf("%s: column %s: %+v", c.name, name, r)
			}
		}
	}
}

func TestSubtractIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		in   protocol.Input
		data string
		want string
	}{
		{"a label", formatInput("csv",
			func(in *protocol.Input) {
				in.Label.Number, in.Subtract = 2,
					map[string]float64{"2": 1}
			}), "1,2\n", noSubtract},
		{"beyond the last", formatInput("csv", func(in *protocol.Input) { in.Subtract = map[string]float64{"3": 1} }),
			"1,2\n", noSubtract},
		{"no such name", formatInput("csv",
			func(in *protocol.Input) {
				in.Header, in.Subtract = true,
					map[string]float64{"z": 1}
			}), "x,y\n1,2\n", `"z": ` + noSubtract},
		{"by number and by name", formatInput("csv",
			func(in *protocol.Input) {
				in.Header, in.Subtract = true,
					map[string]float64{"x": 1, "1": 1}
			}), "x,y\n1,2\n", noSubtract},
		{"an array", formatInput("jsonl", func(in *protocol.Input) {
			in.Features, in.Subtract = []protocol.Column{{Name: "v"}}, map[string]float64{"v": 1}
		}), `{"v":[1,2]}` + "\n", noSubtract},
		{"beyond the rows", formatInput("npy", func(in *protocol.Input) { in.Subtract = map[string]float64{"2": 1} }),
			string(datasettest.NPY("<f4", "(1,)", []float32{1})), noSubtract},
	} {
		_, _, _, err := noticed(t, c.in, c.data)
		if !isCode(err, protocol.CodeSpecInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want SPEC_INVALID that says %q", c.name, err, c.want)
		}
	}
}

// However an object is cut, its values are the same with offsets taken off, and they are those of big arithmetic.
func TestSubtractInAnyShards(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		offset := rapid.SampledFrom([]float64{1, -0.5, 1e6, 1700000000, 1e15}).Draw(rt, "offset")
		n := rapid.IntRange(1, 12).Draw(rt, "records")
		var data strings.Builder
		var want []float32
		for range n {
			v := offset + float64(rapid.IntRange(-1000, 1000).Draw(rt, "value"))
			fmt.Fprintf(&data, "%s,7\n", strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0"))
			want = append(want, float32(v-offset), 7)
		}
		in := formatInput("csv", func(in *protocol.Input) { in.Subtract = map[string]float64{"1": offset} })
		rows, _, err := readFile(t, in, map[string]string{"f": data.String()})
		var got []float32
		for _, r := range rows {
			got = append(got, r.Vector...)
		}
		if err != nil || !slices.Equal(got, want) {
			rt.Fatalf("%v, %v; want %v", got, err, want)
		}
	})
}

// A short number is rounded once, to float32 and to float64.
func TestShortNumbersAreRoundedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]uint64{1<<24 - 1, 1<<53 - 1, 1e19 - 1}).Draw(t, "most")
		digits, point := rapid.Uint64Range(0, most).Draw(t, "digits"), rapid.IntRange(0, 18).Draw(t, "point")
		text := fmt.Sprintf("%0*d", point+1, digits)
		text = text[:len(text)-point] + "." + text[len(text)-point:]
		x, n := scanNumber([]byte(text))
		if n == 0 && (most > 1<<24 || point > 10) {
			return // parseNumber's, by TestScanNumberByHand
		}
		want32, err32 := strconv.ParseFloat(text, 32)
		want64, err64 := strconv.ParseFloat(text, 64)
		if err32 != nil || err64 != nil || n != len(text) || float64(x.float32()) != want32 || x.float64() != want64 {
			t.Fatalf("%s: %v and %v of %d bytes; want %v and %v", text, x.float32(), x.float64(), n, want32, want64)
		}
	})
}

// Two whole numbers that become equal are reported even if that happens late, in a column that is quiet by then. So are
// two beyond 2^53 that are equal as float64.
func TestEqualsAreTold(t *testing.T) {
	var data strings.Builder
	const rows = 2*blockRecords + 100
	for i := range rows {
		fmt.Fprintf(&data, "%d,x\n", 1_000_003*i)
	}
	data.WriteString("6000000001,x\n6000000002,x\n")
	got, _, _, err := noticed(t, formatInput("csv", func(in *protocol.Input) { in.Label.Number = 2 }), data.String())
	if want := [2]string{"6000000001", "6000000002"}; err != nil || got["1"].Equal != want ||
		math.IsInf(got["1"].Low, 0) {
		t.Errorf("late in a quiet column: %+v, %v", got, err)
	}
	for _, ids := range [][]int64{
		{1 << 60, 1<<60 + 1}, {math.MaxInt64, math.MaxInt64 - 1}, {math.MinInt64, math.MinInt64 + 1},
	} {
		got, _, _, err := noticed(t, formatInput("npy", nil), string(datasettest.NPY("<i8", "(2, 1)", ids)))
		want := [2]string{strconv.FormatInt(ids[0], 10), strconv.FormatInt(ids[1], 10)}
		if err != nil || got["1"].Equal != want || got["1"].Moved == 0 {
			t.Errorf("%v: %+v, %v", ids, got, err)
		}
	}
}

// A difference beyond float32 is refused, and the error names the column.
func TestSubtractBeyondFloat32(t *testing.T) {
	subtract := func(in *protocol.Input) { in.Subtract = map[string]float64{"1": -3e38} }
	headed := func(in *protocol.Input) {
		in.Header, in.Label.Number, in.Subtract = true, 2, map[string]float64{"size": -3e38}
	}
	withLabel := func(in *protocol.Input) { subtract(in); in.Label.Number = 2 }
	libsvm := libsvmInput(1, 9)
	subtract(&libsvm)
	for name, c := range map[string]struct {
		in           protocol.Input
		data, column string
	}{
		"csv":           {formatInput("csv", withLabel), "3e38,x\n", "1"},
		"csv, a header": {formatInput("csv", headed), "size,label\n3e38,x\n", "size"},
		"libsvm":        {libsvm, "x 1:3e38\n", "1"},
		"npy": {formatInput("npy", subtract), string(datasettest.NPY("<f4", "(1, 1)", []float32{3e38})),
			"1"},
		"npy of float64": {formatInput("npy", subtract), string(datasettest.NPY("<f8", "(1, 1)", []float64{3e38})),
			"1"},
	} {
		_, rows, _, err := noticed(t, c.in, c.data)
		if want := fmt.Sprintf("%q: %s", c.column, differs32); !isFault(err, protocol.CodeBadRecord, want) {
			t.Errorf("%s: %v, %v; want a fault that says %s", name, rows, err, want)
		}
	}
	if v, err := Vector([]string{"3e38"}, []Offset{{0, -3e38}}, false); err == nil {
		t.Errorf("a vector of %v", v)
	}
}

// What a whole number of 64 bits has that its float64 has not.
func TestExcessByHand(t *testing.T) {
	for whole, want := range map[int64]float64{
		1 << 53: 0, 1<<53 + 1: 1, math.MaxInt64: -1, math.MaxInt64 - 500: -501, math.MinInt64: 0, -1<<53 - 1: -1,
	} {
		if got := (number{whole: whole, exact: float64(whole), isWhole: true}).excess(); got != want {
			t.Errorf("%d: %g, want %g", whole, got, want)
		}
	}
}
