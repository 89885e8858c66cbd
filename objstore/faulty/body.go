package faulty

import "io"

// body gives the bytes of the reader within, cut or flipped as a rule says.
type body struct {
	io.ReadCloser
	rule Rule
	cut  error // what reading at the cut fails with
	read int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.rule.Cut > 0 {
		left := b.rule.Cut - 1 - b.read
		if left == 0 {
			return 0, b.cut
		}
		p = p[:min(int64(len(p)), left)]
	}
	n, err := b.ReadCloser.Read(p)
	if at := b.rule.Flip - 1 - b.read; b.rule.Flip > 0 && at >= 0 && at < int64(n) {
		p[at] ^= 1
	}
	b.read += int64(n)
	return n, err
}
