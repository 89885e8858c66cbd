package records

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxTextBytes bounds one line of stdin, without its end.
const MaxTextBytes = 1 << 20

// Each yields the arguments of a command as if they were lines.
func Each(args []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, arg := range args {
			if !yield(arg, nil) {
				return
			}
		}
	}
}

// Lines yields the lines of a stream, without their ends.
func Lines(r io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, MaxTextBytes+len("\r\n"))
		number := 1
		for ; lines.Scan() && len(lines.Bytes()) <= MaxTextBytes; number++ {
			if !yield(lines.Text(), nil) {
				return
			}
		}
		err := lines.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong) || len(lines.Bytes()) > MaxTextBytes:
			yield("", fmt.Errorf("line %d of stdin is longer than 1 MiB (%d bytes)", number, MaxTextBytes))
		case err != nil:
			yield("", fmt.Errorf("read line %d of stdin: %w", number, err))
		}
	}
}
