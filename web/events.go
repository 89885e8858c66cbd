package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// begin begins a stream of events.
func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
}

// piece renders a piece of a page as the event that puts it in the element of its name.
func (s *Site) piece(name string, view any) ([]byte, error) {
	html, err := s.render(name, view)
	if err != nil {
		return nil, err
	}
	return event("piece", name+"\n"+html), nil
}

// render renders a template as a text in which no character steers.
func (s *Site) render(name string, view any) (string, error) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, view); err != nil {
		s.logger.Error("render a piece of a page", "piece", name, "error", err)
		return "", err
	}
	return protocol.VisibleLines(out.String()), nil
}

// event writes an event of the text/event-stream format. Data may have lines.
func event(name, data string) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name,
		strings.NewReplacer("\r", " ", "\n", "\ndata: ").Replace(data))
}
