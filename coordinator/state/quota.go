package state

// MaxActiveOfToken is how many jobs that have not ended one token may have: the last tenth is left to others.
const MaxActiveOfToken = MaxActiveJobs - MaxActiveJobs/10

// Room is how many more jobs a token may have. Jobs of token "", in a cluster without tokens, share what there is.
// It takes time by the number of jobs that have not ended.
func (s State) Room(token string) int {
	room := MaxActiveJobs - s.ActiveCount()
	if token == "" {
		return max(0, room)
	}
	own := MaxActiveOfToken
	s.EachActive(func(job *Job) bool {
		if job.SubmittedBy == token {
			own--
		}
		return true
	})
	return max(0, min(room, own))
}
