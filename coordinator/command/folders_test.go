package command

import (
	"fmt"
	"testing"
)

func TestOutputFolders(t *testing.T) {
	m := Maker{StoreURI: "s3://cluster"}
	for uri, want := range map[string]string{
		"":                "s3://cluster/models/a/",
		"s3://lake":       "s3://lake/a/",
		"s3://lake/":      "s3://lake/a/",
		"s3://lake/x":     "s3://lake/x/a/",
		"s3://lake/x/":    "s3://lake/x/a/",
		"file:///data/x":  "file:///data/x/a/",
		"file:///data/x/": "file:///data/x/a/",
	} {
		spec := fmt.Sprintf(`{"apiVersion":"v1","kind":"NaiveBayes",
			"spec":{"input":{"uri":"mem://m/in/x.tsv"},"output":{"uri":%q}}}`, uri)
		if got, err := m.outputFolder("a", []byte(spec)); err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", uri, got, err, want)
		}
	}
}

func TestOutputsAmongTheClustersOwn(t *testing.T) {
	m := Maker{StoreURI: "mem://m"}
	for uri, refused := range map[string]bool{
		"mem://m/jobs": true, "mem://m/jobs/": true, "mem://m/jobs/a/": true, "mem://m/models/a": true,
		"mem://m/models/a/": true,
		"mem://m/models":    false, "mem://m/models/": false, "mem://m/modelsx/": false, "mem://other/jobs/": false,
	} {
		if err := m.checkOutput(uri); (err != nil) != refused {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
