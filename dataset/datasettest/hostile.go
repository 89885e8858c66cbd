package datasettest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/gram-compute/gram/protocol"
)

// Case is one object made to do harm, and what an honest reader may say of it. It is
// read as TSV with the label in column 1 and the text in column 3.
type Case struct {
	Name    string
	Key     string // a name for the object; ends in .gz where it claims to be gzip
	Content Content
	// Codes are the faults a reader may report when nothing may be skipped.
	Codes []protocol.Code
	// Readable says that reading it without a fault is right, too.
	Readable bool
	// Records is how many a fault-free reading gives; -1 where it depends on the damage.
	Records int
}

// Hostile makes one case of every mutation. huge is the size in bytes of what is made to be
// huge: the long line and the decoded bomb; an eighth of it are blank lines. Both exceed
// what a reader with the default bounds may let pass from 2 MiB on.
func Hostile(seed uint64, huge int64) []Case {
	g := generator{rand.New(rand.NewPCG(seed, 0x6772616d)), huge}
	cases := []Case{
		g.truncated(), g.truncatedGzip(), g.flipped(), g.flippedGzip(), g.badUTF8(), g.longLine(),
		g.bomb(), g.missingLabel(), g.missingColumn(), g.nul(), g.blankLines(), g.noise(), g.noiseGzip(),
		g.textAsGzip(), g.strayReturns(),
	}
	for i := range cases {
		cases[i].Key = fmt.Sprintf("%s-%d.%s", cases[i].Name, seed, cases[i].Key)
	}
	return cases
}

var (
	badRecord = []protocol.Code{protocol.CodeBadRecord}
	badOrLong = []protocol.Code{protocol.CodeBadRecord, protocol.CodeInputLimit}
	overLimit = []protocol.Code{protocol.CodeInputLimit}
)

type generator struct {
	*rand.Rand
	huge int64
}

// rows are good records, 20 to 219 of them.
func (g generator) rows() []string {
	rows := make([]string, 20+g.IntN(200))
	for i := range rows {
		words := make([]string, 1+g.IntN(12))
		for j := range words {
			words[j] = []string{"alpha", "βήτα", "gamma-ray", "délta", "x"}[g.IntN(5)]
		}
		rows[i] = fmt.Sprintf("class%d\trow %d\t%s", g.IntN(5), i, strings.Join(words, " "))
	}
	return rows
}

func plain(rows []string) []byte { return []byte(strings.Join(rows, "\n") + "\n") }

// spoil replaces one row by what mutate makes of its fields.
func (g generator) spoil(name string, codes []protocol.Code, mutate func(fields []string) []string) Case {
	rows := g.rows()
	i := g.IntN(len(rows))
	rows[i] = strings.Join(mutate(strings.Split(rows[i], "\t")), "\t")
	return Case{Name: name, Key: "tsv", Content: Literal(plain(rows)), Codes: codes, Records: len(rows) - 1}
}

func (g generator) truncated() Case {
	data := plain(g.rows())
	return Case{Name: "truncated", Key: "tsv", Content: Literal(data[:1+g.IntN(len(data)-1)]), Codes: badRecord,
		Readable: true, Records: -1}
}

func (g generator) truncatedGzip() Case {
	data := pack(Literal(plain(g.rows())))
	return Case{Name: "truncated-gzip", Key: "tsv.gz", Content: Literal(data[:1+g.IntN(len(data)-1)]), Codes: badRecord,
		Records: -1}
}

func (g generator) flip(data []byte) Content {
	for range 1 + g.IntN(8) {
		data[g.IntN(len(data))] ^= 1 << g.IntN(8)
	}
	return Literal(data)
}

func (g generator) flipped() Case {
	return Case{Name: "flipped", Key: "tsv", Content: g.flip(plain(g.rows())), Codes: badRecord, Readable: true,
		Records: -1}
}

// A flipped gzip is readable when only the header's remarks were hit.
func (g generator) flippedGzip() Case {
	return Case{Name: "flipped-gzip", Key: "tsv.gz", Content: g.flip(pack(Literal(plain(g.rows())))), Codes: badOrLong,
		Readable: true, Records: -1}
}

func (g generator) badUTF8() Case {
	return g.spoil("bad-utf8", badRecord, func(f []string) []string {
		bad := []string{"\xff", "\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "\xc0\xaf"}[g.IntN(5)]
		i := 2 * g.IntN(2)
		f[i] = f[i][:1] + bad + f[i][1:]
		return f
	})
}

func (g generator) nul() Case {
	return g.spoil("nul", badRecord, func(f []string) []string {
		f[2*g.IntN(2)] += strings.Repeat("\x00", 1+g.IntN(3))
		return f
	})
}

func (g generator) missingLabel() Case {
	return g.spoil("missing-label", badRecord, func(f []string) []string { return []string{"", f[1], f[2]} })
}

func (g generator) missingColumn() Case {
	return g.spoil("missing-column", badRecord, func(f []string) []string { return f[:1+g.IntN(2)] })
}

func (g generator) strayReturns() Case {
	stray := []string{"\r\n\r\r\n", "\n\r\r\n\n", "\r\r"}[g.IntN(3)]
	rows := g.rows()
	i := 1 + g.IntN(len(rows)-1)
	data := append(append(plain(rows[:i]), stray...), plain(rows[i:])...)
	return Case{Name: "stray-returns", Key: "tsv", Content: Literal(data), Codes: badRecord, Readable: true,
		Records: -1}
}

func (g generator) longLine() Case {
	rows := g.rows()
	i := g.IntN(len(rows))
	long := []string{"word ", "\t", "é"}[g.IntN(3)]
	before := append(plain(rows[:i+1]), "class0\tlong\t"...)
	after := append([]byte("\n"), plain(rows[i+1:])...)
	content := Content{{before, 1}, Repeat(long, g.huge), {after, 1}}
	return Case{Name: "long-line", Key: "tsv", Content: content, Codes: overLimit, Records: len(rows)}
}

func (g generator) bomb() Case {
	pattern := []string{"\x00", "a\tb\tc\n", "\n", "class0\tbomb\t"}[g.IntN(4)]
	return Case{Name: "bomb", Key: "tsv.gz", Content: Literal(pack(Content{Repeat(pattern, g.huge)})), Codes: overLimit,
		Records: -1}
}

func (g generator) blankLines() Case {
	rows := g.rows()
	i := 1 + g.IntN(len(rows)-1)
	blank := []string{"\n", "\r\n"}[g.IntN(2)]
	content := Content{{plain(rows[:i]), 1}, Repeat(blank, g.huge/8), {plain(rows[i:]), 1}}
	return Case{Name: "blank-lines", Key: "tsv", Content: content, Readable: true, Records: len(rows)}
}

func (g generator) random() []byte {
	data := make([]byte, 1+g.IntN(1<<16))
	for i := range data {
		data[i] = byte(g.Uint32())
	}
	return data
}

func (g generator) noise() Case {
	return Case{Name: "noise", Key: "tsv", Content: Literal(g.random()), Codes: badRecord, Readable: true, Records: -1}
}

func (g generator) noiseGzip() Case {
	return Case{Name: "noise-gzip", Key: "tsv.gz", Content: Literal(g.random()), Codes: badRecord, Records: -1}
}

func (g generator) textAsGzip() Case {
	return Case{Name: "text-as-gzip", Key: "tsv.gz", Content: Literal(plain(g.rows())), Codes: badRecord, Records: -1}
}

func pack(content Content) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.Copy(w, content.Reader()); err != nil {
		panic(err) // neither side can fail
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}
