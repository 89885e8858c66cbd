package findings

import (
	"container/list"

	"github.com/gram-compute/gram/jobs"
)

// kept holds what was read, by digest, within a bound of bytes: what was asked for longest ago goes first.
type kept struct {
	most, bytes int
	byDigest    map[[32]byte]*list.Element
	order       *list.List // of *entry, the newest in front
}

type entry struct {
	sum     [32]byte
	metrics []jobs.Metric
	bytes   int
}

// entryBytes is what an entry takes besides the bytes that it was read from.
const entryBytes = 512

func newKept(most int) kept {
	return kept{most: most, byDigest: map[[32]byte]*list.Element{}, order: list.New()}
}

func (k *kept) get(sum [32]byte) ([]jobs.Metric, bool) {
	at, ok := k.byDigest[sum]
	if !ok {
		return nil, false
	}
	k.order.MoveToFront(at)
	return at.Value.(*entry).metrics, true
}

func (k *kept) put(sum [32]byte, metrics []jobs.Metric, bytes int) {
	if _, ok := k.byDigest[sum]; ok {
		return
	}
	e := &entry{sum, metrics, 2*bytes + entryBytes} // names are copies of their own
	k.byDigest[sum], k.bytes = k.order.PushFront(e), k.bytes+e.bytes
	for k.bytes > k.most && k.order.Len() > 0 {
		oldest := k.order.Remove(k.order.Back()).(*entry)
		delete(k.byDigest, oldest.sum)
		k.bytes -= oldest.bytes
	}
}
