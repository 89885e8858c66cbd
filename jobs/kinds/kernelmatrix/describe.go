package kernelmatrix

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// Describe tells people what the matrix is, where its tiles are, and what its sample says.
func Describe(a jobs.Arrays, _ jobs.DescribeOptions) (string, error) {
	m, err := readModel(a)
	if err != nil {
		return "", err
	}
	c, _, err := m.certificate()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("kind", "%s", KindName)
	line("kernel", "%s", m.kernel.Text())
	line("vectors", "%d columns, scale %s", m.space.Width, m.space.Scale())
	if text := m.roads.Text(m.kernel); text != "" {
		line("values", "%s", text)
	}
	if m.symmetric {
		line("matrix", "%d x %d, symmetric: the upper triangle is stored", m.rows, m.columns)
	} else {
		line("matrix", "%d queries x %d records", m.rows, m.columns)
	}
	line("tiles", "%d npy files, %d bytes, listed in %s/index.json", m.tiles, m.bytes, TilesFolder)
	if c != nil {
		line("eigenvalues", "from %.6g to %.6g on %d records drawn, within %.2g", c.Least, c.Greatest, c.Records,
			c.Tolerance)
		line("the matrix", "%s", c.verdict(m.rows))
	}
	return b.String(), nil
}
