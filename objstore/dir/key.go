package dir

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/objstore"
)

func validKey(key string) error {
	if err := objstore.ValidKey(key); err != nil {
		return err
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == private {
			return fmt.Errorf("%w: %q is the store's own folder", objstore.ErrInvalidKey, private)
		}
	}
	return nil
}
