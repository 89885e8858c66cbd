package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// CheckPage is the page of a check of a finished job.
type CheckPage struct {
	Job, Kind string
	Verdict   string   // "verified", "digests only", "false" or "incomplete"
	Says      []string // what follows, in sentences
	Facts     [][2]string
	Counts    *jobs.FigureTable
	Findings  []CheckList
}

// CheckList is a list of sentences under a title.
type CheckList struct {
	Title string
	Items []string
}

//go:embed check.html
var checkSource string

var checkTemplate = template.Must(template.New("check").Funcs(templateFuncs).Parse(checkSource + styleSource))

// CheckHTML writes the page of a check. Counts with a row that does not fill the columns are an error.
func CheckHTML(p CheckPage) ([]byte, error) {
	if err := checkTable(p.Counts); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	var out bytes.Buffer
	err := checkTemplate.Execute(&out, p)
	return []byte(protocol.VisibleLines(out.String())), err // keys of objects may hold what steers a page
}
