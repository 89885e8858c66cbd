package schedule

// Live lists the tasks that are leased.
func (b *Board) Live() []Task {
	var tasks []Task
	for _, j := range b.jobs {
		j.each(func(l *lease) { tasks = append(tasks, l.task) })
	}
	return tasks
}
