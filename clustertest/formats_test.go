package clustertest_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// formatsFew records are enough for seven files.
const formatsFew = 420

var formatsRecords = flag.Int("formats.records", formatsFew, "records of the table of TestFormatsMatrix")

const formatsWidth = 12

// table is what every format of TestFormatsMatrix holds.
type table struct {
	ids    []int32
	labels []byte // 0, 1 and 2
	rows   [][]float32
}

// formatsTable draws a table of three classes: columns of numbers with few and with many digits, some of them 0 in most
// rows, large, tiny and equal ones.
func formatsTable(records int) (t table) {
	r := rand.New(rand.NewPCG(12, 20_000))
	for i := range records {
		t.ids = append(t.ids, int32((int64(i)*7919+104_729)%1_000_003)) //lint:checked below 2^20
		class := r.IntN(3)
		t.labels = append(t.labels, byte(class))
		row := make([]float32, formatsWidth)
		for j := range row {
			switch x := r.NormFloat64(); j {
			case 0, 1, 2, 3:
				row[j] = float32(2*float64(class) + x)
			case 4:
				row[j] = float32(r.IntN(256))
			case 5:
				if r.IntN(5) == 0 {
					row[j] = float32(x)
				}
			case 6:
				row[j] = float32(1e6 + x)
			case 7:
				row[j] = float32(math.Ldexp(x, -30))
			case 8:
				row[j] = 16_777_216 - float32(r.IntN(3))
			default:
				row[j] = float32(x) / 3
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func (t table) part(i, of int) table {
	n := len(t.rows)
	from, to := i*n/of, (i+1)*n/of
	return table{t.ids[from:to], t.labels[from:to], t.rows[from:to]}
}

func (t table) numbers() (all []float32) {
	for _, row := range t.rows {
		all = append(all, row...)
	}
	return all
}

func (t table) shape() string { return fmt.Sprintf("(%d, %d)", len(t.rows), formatsWidth) }
func (t table) list() string  { return fmt.Sprintf("(%d,)", len(t.rows)) }

// shortest is the shortest decimal that reads back as the same float32.
func shortest(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }

// lines writes a line for each record.
func (t table) lines(line func(b *strings.Builder, i int)) string {
	var b strings.Builder
	for i := range t.rows {
		line(&b, i)
		b.WriteByte('\n')
	}
	return b.String()
}

// written is a part of the table in some format: its objects of data and, where ids and labels are apart, of those.
type written struct{ data, labels, ids string }

// tableFormat is a way to write the table. input are the fields of spec.input beside the URIs.
type tableFormat struct {
	name, input string
	plainOnly   bool
	write       func(t table) written
}

func tableFormats() []tableFormat {
	ints := func(t table) string { return string(datasettest.NPY("<i4", t.list(), t.ids)) }
	bytesOf := func(t table) string { return string(datasettest.NPY("|u1", t.list(), t.labels)) }
	values := func(t table) string { return string(datasettest.NPY("<f4", t.shape(), t.numbers())) }
	return []tableFormat{
		{name: "csv", input: `"format":"csv","id":14,"label":1`, write: func(t table) written {
			return written{data: t.lines(t.csv)}
		}},
		{name: "csv-header", input: `"format":"csv","header":true,"id":"k","label":"y"`, write: func(t table) written {
			return written{data: "y,a,b,c,d,e,f,g,h,i,j,l,m,k\n" + t.lines(t.csv)}
		}},
		{name: "jsonl", input: `"format":"jsonl","id":"k","label":"y","features":["x"]`, write: func(t table) written {
			return written{data: t.lines(t.json)}
		}},
		{name: "libsvm", input: `"format":"libsvm","id":"comment","dense":true,"width":12,"index_base":1`,
			write: func(t table) written { return written{data: t.lines(t.libsvm)} }},
		{name: "npy", input: `"format":"npy"`, write: func(t table) written {
			return written{values(t), bytesOf(t), ints(t)}
		}},
		{name: "npy-f8", input: `"format":"npy"`, write: func(t table) written {
			var doubles []float64
			for _, v := range t.numbers() {
				doubles = append(doubles, float64(v))
			}
			return written{string(datasettest.NPY("<f8", t.shape(), doubles)), bytesOf(t), t.texts(1)}
		}},
		{name: "npz", input: `"format":"npz","features":["X"],"label":"y","id":"k"`, plainOnly: true,
			write: func(t table) written { return written{data: t.npz(true, t.texts(4))} }},
		{name: "npz-stored", input: `"format":"npz","features":["X"],"label":"y","id":"k"`, plainOnly: true,
			write: func(t table) written { return written{data: t.npz(false, ints(t))} }},
		{name: "idx", input: `"format":"idx"`, write: func(t table) written {
			n := uint32(len(t.rows)) //lint:checked a small table
			return written{string(datasettest.IDX(0x0d, []uint32{n, 3, formatsWidth / 3}, t.numbers())),
				string(datasettest.IDX(0x08, []uint32{n}, t.labels)),
				string(datasettest.IDX(0x0c, []uint32{n}, t.ids))}
		}},
		{name: "fvecs", input: `"format":"fvecs"`, write: func(t table) written {
			var b bytes.Buffer
			for _, row := range t.rows {
				b.Write(datasettest.Vecs(formatsWidth, row))
			}
			return written{b.String(), bytesOf(t), ints(t)}
		}},
	}
}

func (t table) csv(b *strings.Builder, i int) {
	fmt.Fprintf(b, "%d,", t.labels[i])
	for _, v := range t.rows[i] {
		b.WriteString(shortest(v) + ",")
	}
	fmt.Fprint(b, t.ids[i])
}

func (t table) json(b *strings.Builder, i int) {
	fmt.Fprintf(b, `{"k":%d,"y":"%d","x":[`, t.ids[i], t.labels[i])
	for j, v := range t.rows[i] {
		b.WriteString(strings.Repeat(",", min(j, 1)) + shortest(v))
	}
	b.WriteString("]}")
}

func (t table) libsvm(b *strings.Builder, i int) {
	fmt.Fprint(b, t.labels[i])
	for j, v := range t.rows[i] {
		if v != 0 {
			fmt.Fprintf(b, " %d:%s", j+1, shortest(v))
		}
	}
	fmt.Fprintf(b, " # %d", t.ids[i])
}

// texts are the ids as npy strings: of bytes, or of characters of four bytes.
func (t table) texts(size int) string {
	const width = 10
	cells := make([]byte, 0, len(t.ids)*width*size)
	for _, id := range t.ids {
		cell := make([]byte, width*size)
		for i, c := range []byte(strconv.Itoa(int(id))) {
			cell[i*size] = c
		}
		cells = append(cells, cell...)
	}
	return string(datasettest.NPY(map[int]string{1: "|S10", 4: "<U10"}[size], t.list(), cells))
}

func (t table) npz(deflate bool, ids string) string {
	return string(datasettest.NPZ(deflate, datasettest.Array{Name: "k", NPY: []byte(ids)},
		datasettest.Array{Name: "X", NPY: datasettest.NPY("<f4", t.shape(), t.numbers())},
		datasettest.Array{Name: "y", NPY: datasettest.NPY("|i1", t.list(), t.labels)}))
}

// formatJob is a kind in the matrix. Its model and the file of folder, joined, have one digest each over all formats.
type formatJob struct {
	name, kind, params, folder string
	records                    int // of the table at most; 0 for all
}

func formatJobs() []formatJob {
	scaled := `"features":{"scale":"standard"}`
	return []formatJob{
		{name: "bayes", kind: "GaussianNaiveBayes", params: `{}`},
		{name: "mean", kind: "NearestMean", params: `{` + scaled + `}`},
		{name: "kmeans", kind: "KMeans", params: `{"k":5,"assignments":true,"scale":"standard"}`,
			folder: "assignments"},
		{name: "neighbors", kind: "NearestNeighbors", params: `{"k":3,"mode":"classify","lists":"csv","store_base":true,` + scaled + `}`,
			folder: "neighbors"},
		{name: "density", kind: "KernelDensityBayes", params: `{"store_base":false,` + scaled + `}`,
			folder: "predictions"},
		{name: "kernel-mean", kind: "KernelNearestMean", params: `{"kernel":"rbf","gamma":0.1,` + scaled + `}`},
		{name: "perceptron", kind: "Perceptron", params: `{"shuffle":false,` + scaled + `}`},
		{name: "perceptron-shuffled", kind: "Perceptron", params: `{"block_records":BLOCK,` + scaled + `}`},
		{name: "perceptron-mixed", kind: "Perceptron", params: `{"over":"mixed","block_records":BLOCK,` + scaled + `}`},
		{name: "linear", kind: "LinearModel", params: `{` + scaled + `}`},
		{name: "linear-ascends", kind: "LinearModel", params: `{"solver":"ascend","max_rounds":8,` + scaled + `}`},
		{name: "kernel-perceptron", kind: "KernelPerceptron", records: 4000,
			params: `{"kernel":"rbf","gamma":0.1,"epochs":2,"shuffle":false,` + scaled + `}`},
		{name: "kernel-perceptron-shuffled", kind: "KernelPerceptron", records: 4000,
			params: `{"kernel":"rbf","gamma":0.1,"epochs":2,"block_records":BLOCK,` + scaled + `}`},
		{name: "machine", kind: "SupportVectorMachine", records: 2000,
			params: `{"gamma":0.1,"working_set":128,` + scaled + `}`},
		{name: "machine-regress", kind: "SupportVectorMachine", records: 1000,
			params: `{"mode":"regress","gamma":0.1,"working_set":128,` + scaled + `}`},
		{name: "machine-one-class", kind: "SupportVectorMachine", records: 2000,
			params: `{"mode":"one_class","nu":0.2,"gamma":0.1,"novelty":{"labels":["2"]},` + scaled + `}`},
		{name: "novelty", kind: "NoveltyDetector", params: `{"novelty":{"labels":["2"]},` + scaled + `}`},
		{name: "matrix", kind: "KernelMatrix", folder: "records", records: 1000,
			params: `{"kernel":"rbf","gamma":0.1,"block_records":BLOCK,` + scaled + `}`},
	}
}

// One table with labels and ids is one model, whatever the format, the files and their compression. All kinds read by
// one road, so the first one reads all ways to store the table, and the others some each; with -formats.records, which
// make formats-matrix gives, every kind reads all of them.
func TestFormatsMatrix(t *testing.T) {
	store := mem.New("m")
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 30*time.Second, memStores(store))
	cluster.Work(t, "w1", 2, kernelops.Best())
	kinds := formatJobs()
	if clustertest.Raced {
		kinds = kinds[:2]
	}
	for number, c := range kinds {
		t.Run(c.name, func(t *testing.T) {
			records := *formatsRecords
			if c.records > 0 {
				records = min(records, c.records)
			}
			shards := fmt.Sprintf("%dB", 13*records) // some ten of text, some four of numbers
			c.params = strings.ReplaceAll(c.params, "BLOCK", strconv.Itoa(records/3))
			ways, read, want := writeTable(t, store, records), 0, ""
			for i, way := range ways {
				if i > 0 && number > 0 && (i+number)%formatsSkip != 0 && *formatsRecords == formatsFew {
					continue
				}
				read++
				got := way.run(t, cluster, store, c, shards)
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s: %s, want %s", way.name, got, want)
				}
			}
			t.Logf("%d records, %d of %d ways to store them: %s", records, read, len(ways), want)
		})
	}
}

// formatsSkip is of how many ways a kind reads one, beside the first.
const formatsSkip = 9

// tableWay is a table as it was written to the store.
type tableWay struct{ name, input string }

// writeTable writes the table once in each way.
func writeTable(t *testing.T, store objstore.Store, records int) (ways []tableWay) {
	t.Helper()
	whole := formatsTable(records)
	for _, f := range tableFormats() {
		for _, way := range []struct {
			files  int
			suffix string
		}{{1, ""}, {7, ".gz"}, {7, ""}, {1, ".gz"}} {
			if way.suffix != "" && f.plainOnly {
				continue
			}
			name := fmt.Sprintf("%s-%d%s", f.name, way.files, strings.ReplaceAll(way.suffix, ".", "-"))
			at := fmt.Sprintf("in/%d/%s", records, name)
			input := fmt.Sprintf(`"uri":"mem://m/%s/data/",%s`, at, f.input)
			for i := range way.files {
				w := f.write(whole.part(i, way.files))
				for folder, content := range map[string]string{"data": w.data, "labels": w.labels, "ids": w.ids} {
					if content == "" {
						continue
					}
					putPart(t, store, path.Join(at, folder, fmt.Sprintf("part-%d%s", i, way.suffix)), content)
					if folder != "data" && i == 0 {
						input += fmt.Sprintf(`,"%s_uri":"mem://m/%s/%s/"`, folder, at, folder)
					}
				}
			}
			ways = append(ways, tableWay{name, input})
		}
	}
	return ways
}

func putPart(t *testing.T, store objstore.Store, key, content string) {
	t.Helper()
	if strings.HasSuffix(key, ".gz") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		content = b.String()
	}
	if _, err := store.Put(t.Context(), key, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

// run runs a job over the table and returns the digests of its results.
func (w tableWay) run(
	t *testing.T, cluster *clustertest.Local, store objstore.Store, c formatJob, shards string,
) string {
	t.Helper()
	id := c.name + "-" + w.name + "-" + strings.ToLower(shards)
	cluster.Submit(t, id, fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{"input":{%s,
		"shard_bytes":%q,"split":{"test":0.2}},"output":{},"params":%s,"repro":{"seed":7},"run":{}}}`,
		c.kind, w.input, shards, c.params))
	if job := cluster.Wait(t, id); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("%s: %v: %v", w.name, job.GetState(), job.GetFailure())
	}
	r := ran{store, id}
	digest := r.model(t)
	if c.folder == "" {
		return digest
	}
	return digest + fmt.Sprintf(" %x", sha256.Sum256([]byte(r.joined(t, c.folder))))
}
