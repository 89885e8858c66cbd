package clustertest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/verify"
)

// flippedJobs are a job with carries and many rounds, one that emits, and one of several trees.
var flippedJobs = []provedJob{provedJobs[1], provedJobs[2], provedJobs[3], provedJobs[5]}

// sortOf is the sort of a file of a job: what lies in one folder of the proof, or the file itself.
func sortOf(name string) string {
	for _, folder := range []string{proof.PartialsFolder, proof.StatesFolder, proof.RoundsFolder} {
		if strings.HasPrefix(name, folder) {
			return folder
		}
	}
	if at := strings.IndexByte(name, '/'); at > 0 && !strings.HasPrefix(name, proof.Folder) {
		return name[:at+1]
	}
	return name
}

// unsealed are files that hold times and names, of which only some fields follow from the proof; the page is of them.
var unsealed = map[string]bool{"provenance.json": true, "report.json": true, "report.html": true, "bom.cdx.json": true}

// sealedFiles are the files of a job of which every bit is covered, by sort.
func sealedFiles(t *testing.T, store objstore.Store, id string) (sorts []string, files map[string][]string) {
	t.Helper()
	files = map[string][]string{}
	prefix := protocol.OutputPrefix(id)
	for info, err := range store.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(info.Key, prefix)
		if unsealed[name] {
			continue
		}
		s := sortOf(name)
		if files[s] == nil {
			sorts = append(sorts, s)
		}
		files[s] = append(files[s], name)
	}
	return sorts, files
}

// Whichever bit of leaves, merges, states, records, spec, input, plan, model, manifest or of what the job emitted is
// changed, all of the job is found false, and the place is named.
func TestAnyChangedBitIsFound(t *testing.T) {
	t.Parallel()
	const changes = 1000
	store := provedStore(t)
	proveJobs(t, store, flippedJobs, proof.Full)
	r := rand.New(rand.NewPCG(24, 9))
	made := map[string]int{}
	for n := range changes {
		p := flippedJobs[n%len(flippedJobs)]
		sorts, files := sealedFiles(t, store, p.id(proof.Full))
		s := sorts[n/len(flippedJobs)%len(sorts)]
		name := files[s][r.IntN(len(files[s]))]
		key := protocol.OutputPrefix(p.id(proof.Full)) + name
		data := read(t, store, key)
		bit := r.IntN(8 * len(data))
		changed := bytes.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		result := checkAfterPut(t, store, key, changed, p.id(proof.Full))
		if result.Verdict != verify.False || result.False[0].File != name {
			t.Fatalf("%s, bit %d of %s: %s, %+v", p.kind, bit, name, result.Verdict, result.False)
		}
		if says := result.False[0].Says; s == proof.PartialsFolder && !strings.Contains(says, ", tree ") ||
			s == proof.StatesFolder && !strings.Contains(says, "the state that round ") {
			t.Fatalf("%s, bit %d of %s: the place is not named: %s", p.kind, bit, name, says)
		}
		if _, err := store.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
		made[s]++
	}
	for _, p := range flippedJobs {
		wantVerified(t, checked(t, checkOf(store, p.id(proof.Full))))
	}
	if len(made) < 9 {
		t.Errorf("changed %v", made)
	}
	t.Logf("changed bits: %v", made)
}

// Provenance is compared with the proof where it tells the same, and what the job emitted with what is made again: a
// forged index does not pass with its digest in a forged report.
func TestForgedFilesAreFound(t *testing.T) {
	t.Parallel()
	store := provedStore(t)
	proveJobs(t, store, provedJobs, proof.States)
	for _, c := range []struct {
		job            provedJob
		file, old, now string
		says           string
	}{
		{provedJobs[0], "provenance.json", `"seed": 3`, `"seed": 4`, "its spec is not that of proof/spec.json"},
		{provedJobs[0], "provenance.json", `"kept": "states"`, `"kept": "full"`, "in the field proof.kept"},
		{provedJobs[0], "provenance.json", `"job": "naivebayes-states"`, `"job": "another"`, "in the field job"},
		{provedJobs[0], "provenance.json", `"spec_sha256": "`, `"spec_sha256": "0`, "in the field spec_sha256"},
		{provedJobs[0], "provenance.json", `"result_sha256": "`, `"result_sha256": "0`, "in the field result_sha256"},
		{provedJobs[0], "provenance.json", `"key": "texts.tsv"`, `"key": "others.tsv"`, "in the field objects[0].key"},
		{provedJobs[0], "provenance.json", `"integrity": "not`, `"integrity": "now`, "objects[0].integrity"},
		{provedJobs[0], "provenance.json", `"shards": `, `"shards": 1`, "in the field shards"},
		{provedJobs[0], "provenance.json", `"phase": "`, `"phase": "x`, "in the field rounds[0].phase"},
		{provedJobs[1], "provenance.json", `"leaves": `, `"leaves": 1`, "in the field rounds[0].leaves"},
		{provedJobs[1], "provenance.json", `"state": {
        "sha256": "`, `"state": {
        "size": 1,
        "sha256": "`, "the name \"size\" stands twice"},
		{provedJobs[1], "provenance.json", `"says": "`, `"says": "all of the `, "in the field proof.says"},
		{provedJobs[3], "provenance.json", `"uri": "mem://m/models/nearestmean-states/model.safetensors",
    "sha256": "`, `"uri": "mem://m/other",
    "sha256": "`, "in the field initial_model.uri"},
		{provedJobs[0], "report.json", `"kind": "NaiveBayes",`, `"kind": 1, "model_sha256": 5,`, "report.json"},
		{provedJobs[0], "report.json", `"kind": "NaiveBayes",`, `"kind": "Perceptron",`, "in the field kind"},
		{provedJobs[1], "report.json", `"round": 2,`, `"round": 3,`, "in the field rounds[1].round"},
		{provedJobs[1], "report.json", `"leaves": `, `"leaves": 1`, "in the field rounds[0].leaves"},
		{provedJobs[2], "report.json", `"verified": `, `"verified": 1`, "in the field integrity[0].verified"},
		{provedJobs[2], "report.json", `"accuracy": 0`, `"accuracy": 1`, "bom.cdx.json has"},
		{provedJobs[4], "report.json", `"metrics": [`, `"metrics": [{"name": "x", "value": 1},`, "metrics"},
		{provedJobs[4], "report.json", `"files": [`, `"files": [], "flies": [`, "in the field files[0].name"},
		{provedJobs[2], "bom.cdx.json", `"value": "0.`, `"value": "1.`, "performanceMetrics[0].value"},
		{provedJobs[3], "bom.cdx.json", `"alg": "SHA-256"`, `"alg": "SHA-512"`, "hashes[0].alg"},
		{provedJobs[0], "bom.cdx.json", `"version": 1,`, `"version":  1,`, "in another form"},
		{provedJobs[3], "predictions/index.json", `"rows": `, `"rows":  `, "the step, the file predictions/index.json"},
	} {
		folder := protocol.OutputPrefix(c.job.id(proof.States))
		data, report := read(t, store, folder+c.file), read(t, store, folder+"report.json")
		forged := []byte(strings.Replace(string(data), c.old, c.now, 1))
		if bytes.Equal(forged, data) {
			t.Fatalf("%s has no %q:\n%.900s", c.file, c.old, data)
		}
		if strings.HasSuffix(c.file, "index.json") { // and the report says so
			forgedReport := relisted(report, data, forged)
			if bytes.Equal(forgedReport, report) {
				t.Fatalf("the report does not list %s", c.file)
			}
			checkAfterPut(t, store, folder+"report.json", forgedReport, c.job.id(proof.States))
		}
		r := checkAfterPut(t, store, folder+c.file, forged, c.job.id(proof.States))
		if r.Verdict != verify.False || !strings.Contains(r.False[0].Says, c.says) {
			t.Errorf("%s with %s: %s, false %+v, missing %+v", c.file, c.now, r.Verdict, r.False, r.Missing)
		}
		checkAfterPut(t, store, folder+"report.json", report, c.job.id(proof.States))
		wantVerified(t, checkAfterPut(t, store, folder+c.file, data, c.job.id(proof.States)))
	}
}

// relisted is a report in which a file has another digest and size.
func relisted(report, old, now []byte) []byte {
	digest := func(data []byte) []byte {
		sum := sha256.Sum256(data)
		return []byte(hex.EncodeToString(sum[:]))
	}
	report = bytes.ReplaceAll(report, digest(old), digest(now))
	return bytes.ReplaceAll(report, sizeField(old), sizeField(now))
}

func sizeField(data []byte) []byte { return []byte(`"size": ` + strconv.Itoa(len(data))) }
