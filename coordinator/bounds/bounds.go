// Package bounds limits what a peer may take of a port: connections, and time for its requests.
package bounds

import "log/slog"

// LogWriter hands on the lines that a library writes by itself, such as raft's and net/http's.
type LogWriter struct{ Log *slog.Logger }

// Write implements io.Writer.
func (w LogWriter) Write(line []byte) (int, error) {
	w.Log.Warn("raft", "line", string(trimNewline(line)))
	return len(line), nil
}

func trimNewline(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}
