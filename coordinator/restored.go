package coordinator

import "fmt"

// Restored is what a cluster that was begun with a backup has of it.
type Restored struct {
	Epoch     uint64
	Jobs      int
	Schedules int             // held until an operator releases them
	Objects   int             // looked for in the store
	Elsewhere int             // outputs in other stores, which were not looked for
	Missing   []MissingObject // by job
}

// MissingObject is one that the backup refers to, and the store does not hold.
type MissingObject struct {
	JobID, What, Name string
	Size              int64 // that it should have
	Found             int64 // that it has; -1 means it is not there
}

// String says what is missing, in one line.
func (m MissingObject) String() string {
	found := "it is not there"
	if m.Found >= 0 {
		found = fmt.Sprintf("it has %d bytes, not %d", m.Found, m.Size)
	}
	return fmt.Sprintf("job %s, %s: %s: %s", m.JobID, m.What, m.Name, found)
}
