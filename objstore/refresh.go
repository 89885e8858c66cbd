package objstore

// Refresher is a store that keeps something of its server between calls.
type Refresher interface {
	// Refresh drops idle connections and loaded credentials: the next call makes and loads them anew.
	Refresh()
}

// Refresh drops what a store keeps of its server, if it keeps anything.
func Refresh(s Store) {
	if r, ok := s.(Refresher); ok {
		r.Refresh()
	}
}
