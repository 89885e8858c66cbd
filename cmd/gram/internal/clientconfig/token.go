package clientconfig

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const maxTokenBytes = 4096

// ReadToken reads a token's file. A file that others may read gives a warning, for
// people who mount it that way on purpose.
func ReadToken(path string) (token, warning string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", fmt.Errorf("token: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", "", fmt.Errorf("token: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxTokenBytes+1))
	if err != nil {
		return "", "", fmt.Errorf("token: %w", err)
	}
	token = strings.TrimSpace(string(text))
	if token == "" || len(text) > maxTokenBytes || strings.ContainsAny(token, " \t\r\n") {
		return "", "", fmt.Errorf("token: %s holds no token: one word of at most %d bytes", path, maxTokenBytes)
	}
	if info.Mode().Perm()&0o077 != 0 {
		warning = fmt.Sprintf("token file %s may be read by others; chmod 600 it", path)
	}
	return token, warning, nil
}
