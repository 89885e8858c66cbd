package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// CheckAlike refuses a JSON value in which two members of one object have the same name, or names that differ only in
// case: encoding/json takes the last of such members, and other readers another. What is inside of members of the names
// in free may have names that differ in case, such as labels. Values nested deeper than 64 are refused.
func CheckAlike(data []byte, free ...string) error {
	if err := checkDepth(data, 64); err != nil { // checkAlike goes as deep as the data
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	return checkAlike(dec, free, false)
}

// checkAlike reads one value.
func checkAlike(dec *json.Decoder, free []string, minds bool) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		for dec.More() {
			if err := checkAlike(dec, free, minds); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		seen := map[string]bool{}
		for dec.More() {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ := token.(string)
			folded := name
			if !minds {
				folded = strings.ToLower(name)
			}
			if seen[folded] {
				return fmt.Errorf("the name %.80q stands twice in one object, or in another case", name)
			}
			seen[folded] = true
			if err := checkAlike(dec, free, minds || slices.Contains(free, name)); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = dec.Token() // the closing one
	return err
}
