package report

import (
	"fmt"
	"html/template"

	"github.com/gram-compute/gram/jobs"
)

// Picture is a figure as a piece of a page; a table has none.
func Picture(f jobs.Figure) (template.HTML, error) {
	picture, err := draw(f)
	return template.HTML(picture), err // our own SVG, its texts escaped
}

// draw makes the SVG of a figure; a table has none.
func draw(f jobs.Figure) ([]byte, error) {
	switch {
	case f.Lines != nil:
		for _, s := range f.Lines.Series {
			if len(s.X) != len(s.Y) {
				return nil, fmt.Errorf("series %q has %d and %d values", s.Name, len(s.X), len(s.Y))
			}
		}
		return lineChart(f.Title, f.Lines), nil
	case f.Histogram != nil:
		if err := checkHistogram(f.Histogram); err != nil {
			return nil, err
		}
		return histogram(f.Title, f.Histogram), nil
	case f.Scatter != nil:
		if err := checkScatter(f.Scatter); err != nil {
			return nil, err
		}
		return scatterPlot(f.Title, f.Scatter), nil
	case f.Heat != nil:
		if len(f.Heat.Counts) != len(f.Heat.RowKeys)*len(f.Heat.ColKeys) {
			return nil, fmt.Errorf("%d counts for %d x %d keys", len(f.Heat.Counts), len(f.Heat.RowKeys),
				len(f.Heat.ColKeys))
		}
		return heatMap(f.Title, f.Heat), nil
	case f.Images != nil:
		return imageGrid(f.Title, f.Images)
	}
	return nil, nil
}
