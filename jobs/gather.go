package jobs

// Gatherer is a phase whose Map keeps whole shards in memory. A worker begins no more of its tasks at
// a time than fit into its budget; other phases are taken to hold a block of each data set.
type Gatherer interface {
	Phase
	// Gathers estimates what Map keeps in memory for a leaf, in bytes, beside state and carry. records
	// estimates what the records of a shard take when they are decoded.
	Gathers(leaf Leaf, records func(from Source, shard int) int64) int64
}

// Gathers is the estimate of a Gatherer, and 0 for other phases. Of leaf it needs Tree, Index and Plan.
func (t *Tasks) Gathers(phase string, leaf Leaf, records func(from Source, shard int) int64) int64 {
	p, err := t.phase(phase)
	if err != nil {
		return 0 // Map will say so
	}
	if g, ok := p.(Gatherer); ok {
		return g.Gathers(leaf, records)
	}
	return 0
}
