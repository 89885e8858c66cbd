package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// CheckAlike refuses a JSON value in which two members of one object have the same name, or in which a name has a
// letter that encoding/json takes for a small one: it takes the last of such members, and other readers another, or
// none. What is inside of members of the names in free may have any names, such as labels, but none twice. Values
// nested deeper than 64 are refused.
func CheckAlike(data []byte, free ...string) error {
	if err := checkDepth(data, 64); err != nil { // checkAlike goes as deep as the data
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	return checkAlike(dec, free, false)
}

// likeSmall are letters outside of ASCII that encoding/json takes for s and k.
const likeSmall = "\u017f\u212a"

// checkAlike reads one value. anyName is whether its names may have any letters.
func checkAlike(dec *json.Decoder, free []string, anyName bool) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		for dec.More() {
			if err := checkAlike(dec, free, anyName); err != nil {
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
			if seen[name] {
				return fmt.Errorf("the name %.80q stands twice in one object", name)
			}
			seen[name] = true
			if !anyName && strings.ContainsAny(name, likeSmall+"ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
				return fmt.Errorf("the name %.80q is written with other letters than small ones", name)
			}
			if err := checkAlike(dec, free, anyName || slices.Contains(free, name)); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = dec.Token() // the closing one
	return err
}
