package s3

import "github.com/gram-compute/gram/objstore"

var _ objstore.Refresher = (*Store)(nil)

// Refresh closes idle connections and has the credentials loaded again, for both may have gone bad: a connection
// through something that damages what passes, a key that was replaced in a file.
func (s *Store) Refresh() {
	s.idle()
	s.renew()
}
