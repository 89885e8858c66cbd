package dataset

import (
	"bytes"
	"context"
	"io"
)

// countedBytes bounds how far lineNumber reads to name a line.
const countedBytes = 1 << 30

// lineNumber counts from the object's start which line begins at off, when an error
// is about to name it. It is 0, not known, beyond countedBytes or when the store
// fails: the offset says it all.
func lineNumber(ctx context.Context, obj pinned, off int64) int64 {
	if off == 0 {
		return 1
	}
	if off > countedBytes {
		return 0
	}
	body, err := obj.open(ctx, 0, off)
	if err != nil {
		return 0
	}
	defer body.Close()
	number, buf := int64(1), make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		number += int64(bytes.Count(buf[:n], []byte{'\n'}))
		if err == io.EOF {
			return number
		}
		if err != nil || ctx.Err() != nil {
			return 0
		}
	}
}
