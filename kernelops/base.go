package kernelops

// Base is rows to search, made ready once for many searches. The zero Base is ready for Pack.
type Base struct {
	set     *Set
	rows    Matrix
	bytes   byteBase
	packed  bool // as bytes too
	known   bool // norms are
	norms   []float32
	low     []float32 // norms less their share of the error
	lengths []float64 // of cosines
	left    []bool    // queries that 8 bits are of no use to
	guesses guesses
}

// Pack takes the rows of y, which must stay as they are while they are searched, in the place of those before. Sets
// with code for it keep them in 8 bits a value as well, where a sample says that this helps, and where the number of
// queries that are to come is worth it.
func (b *Base) Pack(s *Set, y Matrix, queries int, ws *Workspace) {
	b.pack(s, y, queries, byteKind{}, ws)
}

func (b *Base) pack(s *Set, y Matrix, queries int, kind byteKind, ws *Workspace) {
	y.check()
	b.set, b.rows, b.known, b.bytes.byteKind = s, y, false, kind
	b.packed = s.bytes != nil && BytesPay(y.Rows, y.Cols, queries) && bytesHelp(s, y, kind, ws) &&
		b.bytes.pack(s, y, ws)
}

// Smaller bases, or fewer queries, are not worth bytes.
const (
	leastByteQueries = 128
	leastByteRows    = 512
	leastByteCols    = 16
)

// BytesPay reports whether a base is large enough, and the queries are enough, that rows of 8 bits may be worth it.
func BytesPay(rows, cols, queries int) bool {
	return queries >= leastByteQueries && rows >= leastByteRows && cols >= leastByteCols && cols <= byteCols
}

// Search is that of Set for the rows of the base. Where most is not nil, it leaves out what is farther from row i of x
// than most[i], which makes it faster.
func (b *Base) Search(ids []int, dists []float64, k int, x Matrix, most []float64, ws *Workspace) {
	checkTop(ids, len(dists), k, x, b.rows)
	if b.bytes.products {
		panic("kernelops: the base is packed for products")
	}
	if most != nil && len(most) != x.Rows {
		panic("kernelops: limits have the wrong length")
	}
	bytes := b.packed && b.rows.Rows/leastByteShare >= k
	if bytes && b.mayGuess(x, most) {
		b.searchGuessed(ids, dists, k, x, ws)
		return
	}
	b.search(ids, dists, k, x, most, bytes, ws)
}

// search is Search, by bytes or not.
func (b *Base) search(ids []int, dists []float64, k int, x Matrix, most []float64, bytes bool, ws *Workspace) {
	if x.Rows == 0 {
		return
	}
	s, few := b.set, x.Rows <= fewQueries
	plain := s.matrix == nil || x.Cols == 0
	if !plain && !few && !bytes {
		b.measure(ws)
	}
	grain := maxWidth
	if few {
		grain = 1
	}
	ws.divide(x.Rows, grain, func(sc *scratch, from, to int) {
		some := most
		if most != nil {
			some = most[from:to]
		}
		q := newQueries(s, k, x.RowRange(from, to), b.rows, some)
		switch {
		case plain:
			q.generic()
		case bytes:
			q.throughBytes(s, &b.bytes, sc)
		case few:
			q.each(s, sc)
		default:
			q.together(s, b, sc)
		}
		for i := range q.list {
			q.list[i].best.store(ids[(from+i)*k:(from+i+1)*k], dists[(from+i)*k:], q.list[i].most)
		}
	})
}

// leastByteShare: of so few rows for each neighbor, most are scored anyway.
const leastByteShare = 32

// measure makes sure of the norms.
func (b *Base) measure(ws *Workspace) {
	if b.known {
		return
	}
	b.norms = b.set.norms(measure{kind: sqDist}, Resize(b.norms, b.rows.Rows), b.rows, ws)
	b.low = newFilter(b.rows.Cols).lowNorms(Resize(b.low, b.rows.Rows), b.norms)
	b.known = true
}
