package schedule

// LiveLease is a lease as tests see it.
type LiveLease struct {
	Task        Task
	Worker      string
	Speculative bool
	Token       Token
	Alone       bool
}

// Live lists the leases.
func (b *Board) Live() []LiveLease {
	var live []LiveLease
	for _, j := range b.Jobs.list {
		j.each(func(l *lease) { live = append(live, LiveLease{l.task, l.worker, l.speculative, l.token, l.alone}) })
	}
	return live
}

// Missing is how many silent workers the board remembers.
func (b *Board) Missing() int { return len(b.Deaths.missing) }
