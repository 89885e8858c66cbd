package schedule

// carryShare is which part of a worker's memory the carries of one lease may take. A worker holds each up to three
// times: as it was read, as it is made, and encoded.
const carryShare = 32

// leavesInMemory is how many leaves a lease may cover, given a limit by time, so that what the phase carries for them
// fits into the worker's memory. The first lease of a phase covers one leaf, since nobody knows what it will carry;
// that of a job's first round, with which most jobs end, does not wait for that.
func (s *search) leavesInMemory(limit int) int {
	w, known := s.board.Roster.Worker(s.worker)
	if limit <= 1 || !known || w.Memory == 0 {
		return limit
	}
	open := s.job.Rounds.Open
	if carried := open.CarriedByLeaf(); carried > 0 {
		return int(min(int64(limit), max(1, w.Memory/carryShare/carried)))
	}
	if open.Number > 1 && open.Covered == 0 && s.memory.pace.leaf == 0 {
		return 1
	}
	return limit
}
