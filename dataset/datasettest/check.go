package datasettest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/protocol"
)

// Check says what is wrong with how a reader that may skip nothing ended: a case must be read
// whole or be refused with a fault of class input that names the object, a position and a reason.
func (c Case) Check(records int, err error) error {
	if err == nil {
		if len(c.Codes) > 0 && !c.Readable {
			return fmt.Errorf("%s: read without a fault, want one of %v", c.Key, c.Codes)
		}
		if c.Records >= 0 && records != c.Records {
			return fmt.Errorf("%s: %d records, want %d", c.Key, records, c.Records)
		}
		return nil
	}
	var fault *protocol.Fault
	switch {
	case !errors.As(err, &fault):
		return fmt.Errorf("%s: %v is not a fault", c.Key, err)
	case !slices.Contains(c.Codes, fault.Code):
		return fmt.Errorf("%s: %v, want one of %v", c.Key, err, c.Codes)
	case fault.Class != protocol.ClassInput:
		return fmt.Errorf("%s: %v is not of class input", c.Key, err)
	case fault.Object != c.Key || *fault == *fault.WithoutOffset() || fault.What == "" || fault.Hint == "":
		return fmt.Errorf("%s: %v lacks object, position, reason or advice", c.Key, err)
	}
	return nil
}
