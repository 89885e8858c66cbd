package kernelmatrix

import "github.com/gram-compute/gram/jobs/learn/describe"

// describe tells people what the matrix is, where its tiles are, and what its sample says.
func (m *model) describe(p *describe.Page) error {
	c, _, err := m.certificate()
	if err != nil {
		return err
	}
	p.Fact("kind", "%s", KindName)
	p.Fact("kernel", "%s", m.kernel.Text())
	p.Fact("vectors", "%d columns, scale %s", m.space.Width, m.space.Scale())
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
