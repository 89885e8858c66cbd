package logstore

// Begin is from what a member can begin: a snapshot and the entries after it.
type Begin struct {
	Snapshot string   // its id; "" begins before the first entry
	Aside    []string // snapshots that are damaged
	// CutTo is the last of the entries that are damaged but covered by the snapshot, and must go with all before it:
	// a peer that is late is sent the snapshot instead. 0 cuts nothing.
	CutTo uint64
}

// Decide chooses where to begin: entries are the indices in the log, ascending; bad those that are damaged; snapshots
// the newest first. The error wraps ErrDamaged where what is whole does not reach the log's end: what this member has
// acknowledged would be forgotten.
func Decide(entries, bad []uint64, snapshots []Snapshot) (Begin, error) {
	var begin Begin
	index := uint64(0)
	var why error
	for _, s := range snapshots {
		switch {
		case s.Err != nil:
			begin.Aside = append(begin.Aside, s.ID)
			if why == nil {
				why = s.Err
			}
		case begin.Snapshot == "":
			begin.Snapshot, index = s.ID, s.Index
		}
	}
	isBad := make(map[uint64]bool, len(bad))
	for _, i := range bad {
		isBad[i] = true
		if i <= index {
			begin.CutTo = max(begin.CutTo, i)
		}
	}
	next := index + 1
	for _, i := range entries {
		switch {
		case i <= index:
			continue
		case isBad[i]:
			return Begin{}, damaged("entry %d of the log does not have its checksum, and no snapshot covers it", i)
		case i != next && why != nil:
			return Begin{}, damaged("%v; the log does not reach back to the one before", why)
		case i != next:
			return Begin{}, damaged("the log has no entry %d", next)
		}
		next++
	}
	if lost, covered := lostSnapshot(snapshots, index); why != nil && !covered && next <= lost {
		return Begin{}, damaged("%v; without it what lies behind entry %d is unknown", why, next-1)
	}
	if n := len(entries); begin.CutTo > 0 && begin.CutTo == entries[n-1] {
		return Begin{}, damaged("entry %d, the last of the log, does not have its checksum", begin.CutTo)
	}
	return begin, nil
}

// lostSnapshot is the entry of the newest damaged snapshot; covered means that none is newer than index.
func lostSnapshot(snapshots []Snapshot, index uint64) (lost uint64, covered bool) {
	for _, s := range snapshots {
		if s.Err != nil {
			lost = max(lost, s.Index)
		}
	}
	return lost, lost <= index
}
