package dataset_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/faulty"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	"github.com/gram-compute/gram/objstore/s3"
	"github.com/gram-compute/gram/protocol"
)

// read plans the input k and reads all of it: the sum of its values and the number of its records.
func read(t *testing.T, store objstore.Store, in protocol.Input) (sum float64, records int, m dataset.Manifest,
	err error) {
	t.Helper()
	in.URI = "mem://m/k"
	in = in.WithDefaults()
	m, shards, err := dataset.Plan(t.Context(), store, "k", in)
	if err != nil {
		return 0, 0, m, err
	}
	src, err := dataset.NewSource(store, "", m, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range shards {
		for block, err := range src.Blocks(t.Context(), shard) {
			if err != nil {
				return sum, records, m, err
			}
			records += len(block.IDs)
			for _, v := range block.Dense.Values {
				sum += float64(v)
			}
		}
	}
	return sum, records, m, nil
}

// damage is an object to be read, and where one flipped bit changes a value and where it makes a bad record.
type damage struct {
	name       string
	in         protocol.Input
	data       []byte
	value, bad int
}

func gzipped(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(data) //nolint:errcheck // a buffer takes everything
	w.Close()     //nolint:errcheck
	return out.Bytes()
}

func damages() []damage {
	small := []byte(strings.Repeat("1,2\n3,4\n", 100))
	large := []byte(strings.Repeat("1,2\n3,4\n", 200_000))
	numbers := make([]float32, 400_000)
	for i := range numbers {
		numbers[i] = float32(i % 7)
	}
	npy := datasettest.NPY("<f4", fmt.Sprintf("(%d, 2)", len(numbers)/2), numbers)
	return []damage{
		{"small csv", protocol.Input{Format: "csv"}, small, 4, 5},
		{"small csv in many shards", protocol.Input{Format: "csv", ShardBytes: 64}, small, 404, 405},
		{"large csv", protocol.Input{Format: "csv"}, large, 1_000_004, 1_000_005},
		{"large csv, its last value", protocol.Input{Format: "csv"}, large, len(large) - 2, len(large) - 3},
		{"large npy", protocol.Input{Format: "npy"}, npy, 800_000, 0},
		{"npy, below its head", protocol.Input{Format: "npy"}, npy, 1000, 0},
		{"small csv as gzip", protocol.Input{Format: "csv", Compression: "gzip"}, gzipped(small), 20, 0},
	}
}

func isDamaged(err error) bool {
	var fault *protocol.Fault
	return errors.As(err, &fault) && fault.Code == protocol.CodeInputDamaged && fault.Object == "k" &&
		fault.Class == protocol.ClassTask && strings.Contains(fault.What, "md5:")
}

// One bit of the file beneath a real server is another: the ETag that it goes on serving is the MD5 of the bytes
// that were put.
func TestDamageAtRest(t *testing.T) {
	server := s3server.Start(t, s3server.Options{Dir: t.TempDir()})
	store := server.Open(t, "damage")
	dir := bucketDir(t, server.Data(), "damage")
	for _, c := range damages() {
		if _, err := store.Put(t.Context(), "k", c.data); err != nil {
			t.Fatal(err)
		}
		want, records, m, err := read(t, store, c.in)
		if err != nil || records == 0 {
			t.Fatalf("%s: %d records, %v", c.name, records, err)
		}
		if got, _, _ := dataset.Integrity(m, c.in.WithDefaults()); got[0] != dataset.Verified {
			t.Errorf("%s: %s", c.name, got[0])
		}
		for _, at := range []int{c.value, c.bad} {
			flipBeneath(t, filepath.Join(dir, "k"), at)
			if sum, _, _, err := read(t, store, c.in); !isDamaged(err) {
				t.Errorf("%s, bit flipped in byte %d: sum %v instead of %v, %v; want INPUT_DAMAGED", c.name, at, sum,
					want, err)
			}
			flipBeneath(t, filepath.Join(dir, "k"), at)
		}
		if sum, _, _, err := read(t, store, c.in); err != nil || sum != want {
			t.Errorf("%s, mended: %v, %v", c.name, sum, err)
		}
	}
}

// bucketDir finds the folder of a bucket.
func bucketDir(t *testing.T, data, bucket string) string {
	t.Helper()
	for _, pattern := range []string{bucket, filepath.Join("*", bucket)} {
		if found, err := filepath.Glob(filepath.Join(data, pattern)); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	t.Fatalf("no folder of the bucket %s below %s", bucket, data)
	return ""
}

// flipBeneath flips a bit of a file and keeps its times.
func flipBeneath(t *testing.T, path string, at int) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	one := make([]byte, 1)
	if _, err := f.ReadAt(one, int64(at)); err != nil {
		t.Fatal(err)
	}
	one[0] ^= 4
	if _, err := f.WriteAt(one, int64(at)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// A bit that flips on the way once costs another read of a small object, and the task of a large one.
func TestDamageInTransit(t *testing.T) {
	store := s3server.Start(t, s3server.Options{}).Open(t, "damage")
	for _, c := range damages() {
		if _, err := store.Put(t.Context(), "k", c.data); err != nil {
			t.Fatal(err)
		}
		want, _, _, err := read(t, store, c.in)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{c.value, c.bad} {
			once := faulty.Wrap(store, faulty.Rule{Op: faulty.Get, Times: 1, Flip: int64(at) + 1})
			sum, _, _, err := read(t, once, c.in)
			large := len(c.data) > 1<<20
			// the first read may end before the byte
			if err == nil && sum != want || err != nil && !(large && isDamaged(err)) {
				t.Errorf("%s, byte %d flipped once: sum %v instead of %v, %v", c.name, at, sum, want, err)
			}
			if sum, _, _, err = read(t, once, c.in); err != nil || sum != want {
				t.Errorf("%s, the read after it: %v, %v", c.name, sum, err)
			}
			always := faulty.Wrap(store, faulty.Rule{Op: faulty.Get, Flip: int64(at) + 1})
			if _, _, _, err := read(t, always, c.in); !isDamaged(err) {
				t.Errorf("%s, byte %d flipped in every read: %v; want INPUT_DAMAGED", c.name, at, err)
			}
		}
	}
}

// A header that was damaged is not blamed on the one who wrote it: the object's bytes are compared with its digest.
func TestDamagedHeadersAreNoDifference(t *testing.T) {
	store := s3server.Start(t, s3server.Options{}).Open(t, "damage")
	in := protocol.Input{URI: "mem://m/h/", Format: "csv", Header: true, Label: protocol.Column{Number: 1}}
	in = in.WithDefaults()
	differ := "y,b,a\n1,2,3\n"
	for _, rows := range []int{1, 200_000} { // 1.2 MB are not loaded whole
		table := "y,a,b\n" + strings.Repeat("1,2,3\n", rows)
		plan := func(store objstore.Store, first, then string) error {
			for key, data := range map[string]string{"h/0": first, "h/1": then} {
				if _, err := store.Put(t.Context(), key, []byte(data)); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := dataset.Plan(t.Context(), store, "h/", in)
			return err
		}
		fails := func(err error, code protocol.Code) bool {
			fault, ok := errors.AsType[*protocol.Fault](err)
			return ok && fault.Code == code && fault.Object == "1"
		}
		if err := plan(store, table, table); err != nil {
			t.Fatal(err)
		}
		if err := plan(store, table, differ); !fails(err, protocol.CodeSpecInvalid) {
			t.Errorf("%d rows, whole: %v", rows, err)
		}
		for _, times := range []int{0, 1} {
			flip := faulty.Rule{Op: faulty.Get, Key: "h/1", Flip: 3, Times: times} // the name a
			if err := plan(faulty.Wrap(store, flip), table, table); !fails(err, protocol.CodeInputDamaged) {
				t.Errorf("%d rows, %d times: %v", rows, times, err)
			}
		}
	}
}

// listed is a store whose ETags are of parts.
type listed struct{ *mem.Store }

func (s listed) Stat(ctx context.Context, key string) (objstore.Info, error) {
	info, err := s.Store.Stat(ctx, key)
	info.ETag += "-2"
	return info, err
}

func (s listed) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	opt.IfMatch = strings.TrimSuffix(opt.IfMatch, "-2")
	r, info, err := s.Store.Get(ctx, key, opt)
	info.ETag += "-2"
	return r, info, err
}

// What cannot be verified is said to be so.
func TestNotVerifiable(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	server.MakeBucket(t, "parts")
	cfg := server.Config("parts")
	cfg.SinglePut, cfg.PartSize = 1<<20, 5<<20
	parts, err := s3.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close() //nolint:errcheck // idle connections
	whole := server.Open(t, "damage")
	large := []byte(strings.Repeat("1,2\n3,4\n", 900_000))
	for _, c := range []struct {
		name  string
		store objstore.Store
		in    protocol.Input
		data  []byte
		want  string
	}{
		{"in memory", mem.New("m"), protocol.Input{Format: "csv"}, []byte("1,2\n"),
			"not verifiable: the store has no checksum of it"},
		// by the CRC64 that the server makes of the whole
		{"put in parts", parts, protocol.Input{Format: "csv"}, large, dataset.Verified},
		{"listed in parts", listed{mem.New("m")}, protocol.Input{Format: "csv"}, []byte("1,2\n"),
			"not verifiable: it was put in parts"},
		{"cut", whole, protocol.Input{Format: "csv", ShardBytes: 1 << 20}, large,
			"not verifiable: it is longer than a shard"},
		{"switched off", whole, protocol.Input{Format: "csv", Verify: "off"}, []byte("1,2\n"),
			"not verifiable: spec.input.verify is off"},
		{"npz", whole, protocol.Input{Format: "npz", Features: []protocol.Column{{Name: "X"}}},
			datasettest.NPZ(false, datasettest.Array{Name: "X",
				NPY: datasettest.NPY("<f4", "(300000, 1)", make([]float32, 300_000))}), "not verifiable: an npz"},
		{"whole", whole, protocol.Input{Format: "csv"}, []byte("1,2\n"), dataset.Verified},
	} {
		if _, err := c.store.Put(t.Context(), "k", c.data); err != nil {
			t.Fatal(err)
		}
		_, records, m, err := read(t, c.store, c.in)
		if err != nil || records == 0 {
			t.Errorf("%s: %d records, %v", c.name, records, err)
			continue
		}
		if got, _, _ := dataset.Integrity(m, c.in.WithDefaults()); len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s: %q (%s, %s), want %q", c.name, got, m.Objects[0].ETag, m.Objects[0].Digest, c.want)
		}
	}
}
