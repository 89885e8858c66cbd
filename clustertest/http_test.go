package clustertest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/objstore/mem"
)

func post(t *testing.T, cluster *clustertest.Local, token gate.Token, procedure, body string) (status int,
	answer map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, cluster.URL()+procedure,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	res, err := cluster.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s answered %q: %v", procedure, text, err)
	}
	return res.StatusCode, answer
}

// Plain HTTP with JSON reaches every service, as the docs say.
func TestPlainJSON(t *testing.T) {
	data := t.TempDir()
	store := mem.New("m")
	tinyCorpus(t, store)
	cluster := clustertest.StartLocal(t, data, "mem://m", 5*time.Second, memStores(store))
	spec, err := json.Marshal(map[string]string{"id": "by-hand", "specJson": tinySpec("")})
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := post(t, cluster, cluster.AdminToken(), "/gram.v1.JobService/Submit",
		string(spec)); status != 200 || answer["created"] != true {
		t.Errorf("submit: %d %v", status, answer)
	}
	if status, answer := post(t, cluster, cluster.AdminToken(), "/gram.v1.JobService/Get",
		`{"id":"by-hand"}`); status != 200 || answer["job"].(map[string]any)["kind"] != "NaiveBayes" {
		t.Errorf("get: %d %v", status, answer)
	}
	if status, answer := post(t, cluster, cluster.AdminToken(), "/gram.v1.JobService/Get",
		`{"id":"nobody"}`); status != 404 || answer["code"] != "not_found" {
		t.Errorf("get of an unknown job: %d %v", status, answer)
	}
	if status, answer := post(t, cluster, cluster.WorkerToken(), "/gram.v1.JobService/List", `{}`); status != 403 ||
		answer["code"] != "permission_denied" {
		t.Errorf("list with a worker's token: %d %v", status, answer)
	}
	bad := strings.Replace(tinySpec(""), "shard_bytes", "shard_byte", 1)
	spec, err = json.Marshal(map[string]string{"id": "bad", "specJson": bad})
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := post(t, cluster, cluster.AdminToken(), "/gram.v1.JobService/Submit",
		string(spec)); status != 400 || !strings.Contains(answer["message"].(string), `did you mean "shard_bytes"`) {
		t.Errorf("a misspelt field: %d %v", status, answer)
	}
	runDocumentedCurl(t, cluster, data)
}

// runDocumentedCurl runs the commands of docs/protocol.md as they stand there.
func runDocumentedCurl(t *testing.T, cluster *clustertest.Local, data string) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed: the commands in docs/protocol.md were not run, only what they send")
		return
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?s)```sh\n(curl .*?)```").FindAllSubmatch(page, -1)
	if len(commands) < 2 {
		t.Fatalf("docs/protocol.md holds %d curl commands", len(commands))
	}
	for _, c := range commands {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", string(c[1]))
		cmd.Env = append(os.Environ(), "DIR="+data, "ADDR="+cluster.Addr())
		out, err := cmd.CombinedOutput()
		var answer map[string]any
		if err != nil || json.Unmarshal(out, &answer) != nil || answer["code"] != nil {
			t.Errorf("%s\n%v: %s", c[1], err, out)
		}
	}
}
