package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// numberLists are the lists of numbers in indented JSON: no text holds a line's end.
var numberLists = regexp.MustCompile(`\[\n[-+.eE0-9,\s]+\]`)

// Encode writes a report for people and programs: indented, but for lists of numbers.
func Encode(report any) ([]byte, error) {
	data, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return numberLists.ReplaceAllFunc(data, func(list []byte) []byte { return bytes.Join(bytes.Fields(list), nil) }),
		nil
}

// Indented writes JSON for people; text that is not JSON stays as it is.
func Indented(text string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return text
	}
	return out.String()
}
