package clustertest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/compare"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

const comparedSpec = `{"apiVersion":"v1","kind":"KMeans","metadata":{},"spec":{"input":{"uri":"mem://m/in/",
	"format":"csv","label":5,"shard_bytes":2000},"output":{OUTPUT},"params":{"k":CLUSTERS,"max_rounds":3,"init_rounds":2},
	"repro":{"seed":7},"run":{"audit":0}}}`

// The cluster's answer has the same node, arrays, fields and figures that the folders of the two jobs have by
// themselves: what `gram diff` prints. Of a job whose files lie elsewhere it has all but these.
func TestTheClustersComparisonIsThatOfTheFolders(t *testing.T) {
	t.Parallel()
	store := mem.New("m")
	if _, err := store.Put(t.Context(), "in/a.csv", []byte(fourGroups())); err != nil {
		t.Fatal(err)
	}
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 10*time.Second, memStores(store))
	cluster.Work(t, "w1", 2, kernelops.Generic())
	for _, job := range [][3]string{{"a", "3", ""}, {"b", "4", ""}, {"again", "3", ""},
		{"away", "4", `"uri":"s3://elsewhere/away/"`}} {
		cluster.Submit(t, job[0], strings.NewReplacer("CLUSTERS", job[1], "OUTPUT", job[2]).Replace(comparedSpec))
		if ended := cluster.Wait(t, job[0]); ended.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
			t.Fatalf("%s: %v", job[0], ended.GetFailure())
		}
	}
	client := gramv1connect.NewCompareServiceClient(cluster.Client(), cluster.URL(),
		clustertest.WithToken(cluster.AdminToken()))
	ask := func(left, right string) *pb.Comparison {
		t.Helper()
		res, err := client.CompareJobs(t.Context(),
			connect.NewRequest(&pb.CompareJobsRequest{Left: left, Right: right}))
		if err != nil {
			t.Fatal(err)
		}
		return res.Msg.GetComparison()
	}
	folder := func(id string) compare.Folder {
		return compare.Folder{Name: id, Read: func(ctx context.Context, name string) ([]byte, error) {
			data, _, err := objstore.ReadAll(ctx, store, protocol.OutputPrefix(id)+name, objstore.GetOptions{}, 1<<30)
			return data, err
		}}
	}
	d, err := compare.Jobs(t.Context(), folder("a"), folder("b"))
	if err != nil {
		t.Fatal(err)
	}
	c := ask("a", "b")
	differ, same := len(c.GetArrays()), int(c.GetSameArrays())
	if c.GetNode() != d.Nodes.Says || differ+same != len(d.Arrays) || differ == 0 {
		t.Errorf("node %q of %q; %d and %d arrays of %d", c.GetNode(), d.Nodes.Says, differ, same, len(d.Arrays))
	}
	const first = "The spec: spec.params.k is 3 on the left, 4 on the right."
	if len(c.GetNotCompared()) > 0 || c.GetFirst() != first {
		t.Errorf("%v, %s", c.GetNotCompared(), c.GetFirst())
	}
	if len(c.GetCurves()) == 0 || c.GetCurves()[0].GetParts() == 0 {
		t.Errorf("curves %v", c.GetCurves())
	}
	c = ask("a", "again")
	if rounds := c.GetLeft().GetRounds(); c.GetModel() != pb.SameModel_SAME_MODEL_SAME || len(c.GetFields()) > 0 ||
		rounds == 0 || c.GetNode() != fmt.Sprintf("the same in all %d rounds", rounds) {
		t.Errorf("the same job again: %v", c)
	}
	c = ask("a", "away")
	if len(c.GetNotCompared()) != 1 || !strings.Contains(c.GetNotCompared()[0].GetWhy(), "spec.output.uri") ||
		len(c.GetMetrics()) == 0 {
		t.Errorf("a job that left its files elsewhere: %v", c.GetNotCompared())
	}
}
