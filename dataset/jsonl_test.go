package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gram-compute/gram/protocol"
)

func jsonInput(label, text, weight string, features ...string) protocol.Input {
	return formatInput("jsonl", func(in *protocol.Input) {
		in.Label.Name, in.Text.Name, in.Weight.Name = label, text, weight
		for _, path := range features {
			in.Features = append(in.Features, protocol.Column{Name: path})
		}
	})
}

func TestJSONLByHand(t *testing.T) {
	both := jsonInput("y", "t", "")
	deep := jsonInput("/meta/class~1~0x/1", "", "w", "/v", "n")
	for _, c := range []struct {
		name string
		in   protocol.Input
		data string
		want []row
	}{
		{"members in any order", both, `{"y":"a","t":"x y"}` + "\n" +
			` { "t" : "z", "other":{"t":["}",1]}, "y" : "b" } ` + "\r\n",
			[]row{{Label: "a", Text: "x y"}, {Offset: 20, Label: "b", Text: "z"}}},
		{"escapes", both, `{"\u0079":"\"\u00e9\ud83d\ude00","t":"a\nb\\"}`, []row{{Label: "\"é😀", Text: "a\nb\\"}}},
		{"half a pair", both, `{"y":"a","t":"\ud83dx"}`, []row{{Label: "a", Text: "\ufffdx"}}},
		{"labels that are no strings", jsonInput("y", "t", ""),
			"{\"y\":1,\"t\":\"\"}\n{\"y\":1.50,\"t\":\"\"}\n{\"y\":true,\"t\":\"\"}\n{\"y\":-0,\"t\":\"\"}\n{\"y\":12345678901234567890,\"t\":\"\"}\n",
			[]row{{Label: "1"}, {Offset: 15, Label: "1.5"}, {Offset: 33, Label: "true"}, {Offset: 51, Label: "0"},
				{Offset: 67, Label: "12345678901234567890"}}},
		{"paths, a weight, an array and a number", deep,
			`{"meta":{"class/~x":["no","yes"]},"w":0.5,"v":[1, -2.5e1 ,3],"n":4}` + "\n\n" +
				`{"n":1,"v":[0,0,0],"w":2,"meta":{"class/~x":[0,1]}}`,
			[]row{{Label: "yes", Weight: 0.5, Vector: []float32{1, -25, 3, 4}},
				{Offset: 69, Label: "1", Weight: 2, Vector: []float32{0, 0, 0, 1}}}},
		{"a byte order mark", both, "\ufeff{\"y\":\"a\",\"t\":\"b\"}\n \n", []row{{Label: "a", Text: "b"}}},
		{"a value and a part of it", jsonInput("/a/0", "", "", "a"), `{"a":[1,2]}`,
			[]row{{Label: "1", Vector: []float32{1, 2}}}},
		{"spaces behind values", jsonInput("y", "", "w", "v"), `{"y":1 ,"w":2` + "\t" + `,"v":[3 ] }`,
			[]row{{Label: "1", Weight: 2, Vector: []float32{3}}}},
		{"a weight of 0", jsonInput("y", "t", "w"), `{"y":1,"w":0,"t":"x"}`, []row{{Label: "1", Text: "x"}}},
		{"an empty name", jsonInput("/", "t", ""), `{"":"a","t":"b"}`, []row{{Label: "a", Text: "b"}}},
	} {
		got, _, err := readFile(t, c.in, map[string]string{"f": c.data})
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
		if got, _, err = readFile(t, c.in, map[string]string{"f.gz": zipped(c.data)}); err != nil ||
			!reflect.DeepEqual(got, c.want) {
			t.Errorf("%s as gzip: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// Every flaw of a second record is a fault at its byte, or is skipped where that is allowed.
func TestJSONLFaultsByHand(t *testing.T) {
	text, vector := jsonInput("y", "t", "w"), jsonInput("", "", "", "v")
	const good, goodVector = `{"y":"a","t":"b","w":1}` + "\n", `{"v":[1,2]}` + "\n"
	for _, c := range []struct {
		reason string
		in     protocol.Input
		data   string
		at     int64 // in the second line
	}{
		{badJSON, text, `{"y":"a","t":"b",}`, 17}, {badJSON, text, `{"y":"a"`, 7}, {badJSON, text, `{} {}`, 3},
		{badJSON, text, `{"y":01}`, 6},
		{notObject, text, `["a"]`, 0}, {notThere, text, `{"t":"b","w":1}`, 0},
		{notThere, text, `{"y":null,"t":"b","w":1}`, 5},
		{twiceThere, text, `{"y":"a","t":"b","w":1,"y":"c"}`, 27}, {notScalar, text, `{"y":["a"],"t":"b","w":1}`, 5},
		{badNumberLabel, text, `{"y":1e999,"t":"b","w":1}`, 5}, {emptyLabel, text, `{"y":"","t":"b","w":1}`, 5},
		{nulByte, text, `{"y":"\u0000","t":"b","w":1}`, 5}, {nulByte, text, `{"y":"a","t":"\u0000","w":1}`, 13},
		{notString, text, `{"y":"a","t":1,"w":1}`, 13}, {badWeight, text, `{"y":"a","t":"b","w":-1}`, 21},
		{notNumber, text, `{"y":"a","t":"b","w":"1"}`, 21},
		{notUTF8, text, "{\"y\":\"a\xff\",\"t\":\"b\",\"w\":1}", 7},
		{tooLong, text, `{"y":"` + strings.Repeat("a", 50) + `"}`, 0},
		{otherLength, vector, `{"v":[1]}`, 5}, {otherLength, vector, `{"v":[1,2,3]}`, 5},
		{notNumber, vector, `{"v":[1,[2]]}`, 8}, {notNumber, vector, `{"v":"1"}`, 5},
		{beyond32, vector, `{"v":[1, 1e39]}`, 9},
	} {
		first := good
		if len(c.in.Features) > 0 {
			first = goodVector
		}
		c.in.MaxRecordBytes = 48
		for _, skips := range []int64{0, 1} {
			c.in.OnBadRecord.SkipMax = skips
			rows, skipped, err := readFile(t, c.in, map[string]string{"f": first + c.data})
			if skips > 0 {
				want := []Skip{{ID: Identity{"f", int64(len(first))}, Reason: c.reason}}
				if err != nil || len(rows) != 1 || !slices.Equal(skipped, want) {
					t.Errorf("%s, skipped: %v %v %v; want %v", c.data, rows, skipped, err, want)
				}
				continue
			}
			var fault *protocol.Fault
			at := int64(len(first)) + c.at
			if !errors.As(err, &fault) || !strings.Contains(fault.What, c.reason) || *fault != *fault.WithOffset(at) ||
				fault.Line != 2 || fault.Class != protocol.ClassInput || fault.Hint == "" {
				t.Errorf("%s: %v, want %q at %d", c.data, err, c.reason, at)
			}
		}
	}
	if _, _, err := readFile(t, vector, map[string]string{"f": `{"v":[]}`}); err == nil ||
		!strings.Contains(err.Error(), noNumbers) {
		t.Errorf("a vector without numbers: %v", err)
	}
}

// A fault of one of several values names it.
func TestJSONLFaultOfTheSecondValue(t *testing.T) {
	for second, want := range map[string]string{`{"x":1,"v":1e39}`: beyond32, `{"x":1,"v":[]}`: otherLength} {
		data := `{"x":1,"v":[1]}` + "\n" + second
		_, _, err := readFile(t, jsonInput("", "", "", "x", "v"), map[string]string{"f": data})
		if err == nil || !strings.Contains(err.Error(), `"v": `+want) {
			t.Errorf("%s: %v, want a fault of v: %s", second, err, want)
		}
	}
}

// naiveJSON reads one line with the standard library; false where it is no record.
func naiveJSON(line string) (r row, ok bool) {
	var members map[string]json.RawMessage
	if !utf8.ValidString(line) || json.Unmarshal([]byte(line), &members) != nil || members == nil {
		return r, false
	}
	var list []json.RawMessage
	if json.Unmarshal(members["l"], &list) != nil || len(list) == 0 || json.Unmarshal(members["t"], &r.Text) != nil ||
		string(members["t"]) == "null" {
		return r, false
	}
	dec := json.NewDecoder(bytes.NewReader(list[0]))
	dec.UseNumber()
	var label any
	if dec.Decode(&label) != nil {
		return r, false
	}
	switch v := label.(type) {
	case string:
		r.Label = v
	case bool:
		r.Label = strconv.FormatBool(v)
	case json.Number:
		if r.Label = string(v); strings.ContainsAny(r.Label, ".eE") || r.Label == "-0" {
			f, err := v.Float64()
			if err != nil {
				return r, false
			}
			r.Label = strconv.FormatFloat(f+0, 'g', -1, 64)
		}
	default:
		return r, false
	}
	return r, r.Label != "" && !strings.Contains(r.Label+r.Text, "\x00")
}

// FuzzJSONL checks the reader against naiveJSON, cut at will; what names a value twice is left to the reader.
func FuzzJSONL(f *testing.F) {
	for _, seed := range []string{`{"l":["a",1],"t":"x"}` + "\n" + `{"t":"\u00e9","l":[1.0]}`, `{"l":["a"],"t":"x"} x`,
		`{"t":"a","l":[[]]}`, "[1,{}]\n\n\ufeff{}", `{"l":{"0":"a"},"t":""}`, `{"\u006c":[true],"t":"\ud800"}`,
		`{"l":[-0.0],"t":"t","l":["b"]}`} {
		f.Add([]byte(seed), uint16(3), uint16(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, shard, buffer uint16) {
		in := jsonInput("/l/0", "t", "")
		in.ShardBytes, in.OnBadRecord.SkipMax = protocol.ByteSize(shard)+1, math.MaxInt64
		s, shards, err := openInput(storeOf(t, map[string]string{"f": string(data)}), in)
		if len(data) == 0 && isCode(err, protocol.CodeInputEmpty) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s.buffer = int(buffer) + 1
		got, skipped, err := readRowsAll(s, shards)
		if err != nil {
			t.Fatal(err)
		}
		var want []row
		bad, off := 0, 0
		for _, line := range strings.SplitAfter(string(data), "\n") {
			at := off
			off += len(line)
			text := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if at == 0 {
				text = strings.TrimPrefix(text, "\ufeff")
			}
			r, ok := naiveJSON(text)
			r.Offset = int64(at)
			switch {
			case strings.Trim(text, " \t\r") == "":
			case slices.ContainsFunc(skipped,
				func(s Skip) bool { return s.ID.Offset == int64(at) && s.Reason == twiceThere }):
				bad++
			case ok:
				want = append(want, r)
			// a member 0 of an object is what the path names, too
			case strings.Contains(text, `"0"`) || strings.Contains(text, "\\u0030"):
				return
			default:
				bad++
			}
		}
		if !equalRows(got, want) || len(skipped) != bad {
			t.Fatalf("got %v, %v\nwant %v, %d", got, skipped, want, bad)
		}
	})
}
