package dataset

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/protocol"
)

// What is appended to a label, a text, a category or an id of a block does not write over what follows: lines have
// memory behind them that is not theirs.
func TestFieldsEndWithTheirMemory(t *testing.T) {
	one := 1
	for name, c := range map[string]struct {
		in   func(*protocol.Input)
		data string
	}{
		"csv": {func(in *protocol.Input) {
			in.ID.Number, in.Label.Number, in.Text.Number, in.Weight.Number = 4, 1, 2, 3
			in.Categorical = columns(5)
		}, "a,\"x,\"\"y\",1,k0,red\nb,some text,2,k1,green\nc,\"z\",3,k2,\"blue\"\n"},
		"tsv": {func(in *protocol.Input) { in.ID.Number, in.Label.Number, in.Text.Number = 3, 1, 2 },
			"a\tx\tk0\nb\ty\tk1\nc\tz\tk2\n"},
		"jsonl": {func(in *protocol.Input) { in.ID.Name, in.Label.Name, in.Text.Name = "id", "l", "t" },
			"{\"l\":\"a\",\"t\":\"x\",\"id\":\"k0\"}\n{\"l\":1,\"t\":\"y\",\"id\":7}\n{\"l\":true,\"t\":\"z\",\"id\":\"k2\"}\n"},
		"libsvm": {func(in *protocol.Input) { in.ID.Name, in.IndexBase, in.Width = "comment", &one, 9 },
			"1 1:2 2:3 # k0\n+2 1:4 # k1\n3 1:4 5:6 # k2\n"},
	} {
		in := formatInput(name, c.in)
		p := newFormat(&in).(lineFormat).parser(&in, decimal.Fastest())
		l := newLines(bytes.NewReader([]byte(c.data)), make([]byte, 256, 256+aheadBytes), 0, 1<<20, 1<<20)
		var b Block
		b.watch.begin(func(int) string { return "" }, nil)
		for n := 0; ; n++ {
			ln, ok, err := l.wait()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			text := p.content(ln.text)
			if n == 0 && p.head() == firstRecord {
				p.first(text)
			}
			if bad := p.record(&b, text); bad.reason != "" {
				t.Fatalf("%s, line %d: %s", name, n, bad.reason)
			}
			before := bytes.Clone(l.buf)
			for _, field := range slices.Concat(b.Labels, b.Texts, b.Categories.Values, [][]byte{b.id}) {
				if _ = append(field, "more"...); !bytes.Equal(l.buf, before) {
					t.Errorf("%s, line %d: what was appended to %q is in the buffer", name, n, field)
					copy(l.buf, before)
				}
			}
		}
	}
}
