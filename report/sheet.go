package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
)

//go:embed sheet.html
var sheetSource string

var sheetTemplate = template.Must(template.Must(template.New("sheet").Parse(sheetSource)).Parse(styleSource))

// Sheet writes a page of a title, what it comes to, and rows of a name and a text each, in the design of a job's page.
func Sheet(title, claim string, rows [][2]string) ([]byte, error) {
	var out bytes.Buffer
	err := sheetTemplate.Execute(&out, struct {
		Title, Claim string
		Rows         [][2]string
	}{title, claim, rows})
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return out.Bytes(), nil
}
