package kernelmatrix

import (
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/protocol"
)

// describe tells people what the matrix is, where its tiles are, and what its sample says.
func (m *model) describe(p *describe.Page) error {
	c, _, err := m.certificate()
	if err != nil {
		return err
	}
	p.Fact("kind", "%s", KindName)
	p.Fact("kernel", "%s", m.kernel.Text())
	p.Fact("vectors", "%s, scale %s", protocol.Counted(m.space.Width, "column"), m.space.Scale())
	if text := m.roads.Text(m.kernel); text != "" {
		p.Fact("values", "%s", text)
	}
	if m.symmetric {
		p.Fact("matrix", "%d x %d, symmetric: the upper triangle is stored", m.rows, m.columns)
	} else {
		p.Fact("matrix", "%d queries x %d records", m.rows, m.columns)
	}
	p.Fact("tiles", "%d npy files, %d bytes, listed in %s/index.json", m.tiles, m.bytes, TilesFolder)
	if c != nil {
		p.Fact("eigenvalues", "from %.6g to %.6g on %d records drawn, within %.2g", c.Least, c.Greatest, c.Records,
			c.Tolerance)
		p.Fact("the matrix", "%s", c.verdict(m.rows))
	}
	return nil
}

// maxPicture bounds the sides of the picture of the sample.
const maxPicture = 64

// figures show the sample: a picture of its matrix, its eigenvalues, and what they say.
func (m *model) figures(_ []jobs.Metric) ([]jobs.Figure, error) {
	c, values, err := m.certificate()
	if err != nil || c == nil {
		return nil, err
	}
	table := &jobs.FigureTable{Columns: []string{"records drawn", "least eigenvalue", "greatest eigenvalue",
		"tolerance", "the matrix"},
		Rows: [][]string{{
			fmt.Sprint(c.Records), fmt.Sprintf("%.6g", c.Least), fmt.Sprintf("%.6g", c.Greatest),
			fmt.Sprintf("%.2g", c.Tolerance), c.verdict(m.rows),
		}}}
	picture := m.sample.picture()
	return []jobs.Figure{
		{Title: "Positive semidefinite or not", Table: table,
			Caption: "Of records drawn by identity. A least eigenvalue of the tolerance or more shows that their matrix is positive semidefinite; " +
				"one below minus the tolerance refutes the whole matrix. In between it cannot be told."},
		{Title: "Eigenvalues of the sample",
			Lines: &jobs.LineChart{X: "rank", Y: "eigenvalue", Decades: true,
				Series: []jobs.Series{jobs.SeriesOf("eigenvalue", values)}}},
		{Title: "Kernel matrix of the sample", Images: []jobs.Image{picture},
			Caption: "Between its least and its greatest value, records in the order of their objects and offsets."},
	}, nil
}

// picture is the matrix of some of the sample, evenly spaced.
func (s *sample) picture() jobs.Image {
	n := len(s.ids)
	side := min(n, maxPicture)
	picture := jobs.Image{Label: fmt.Sprintf("%d x %d", side, side), Width: side}
	for i := range side {
		for j := range side {
			picture.Values = append(picture.Values, s.values[i*n/side*n+j*n/side])
		}
	}
	return picture
}
