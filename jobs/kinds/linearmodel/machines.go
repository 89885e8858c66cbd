package linearmodel

import (
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/voting"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// How more than two classes are told apart.
const (
	oneVsRest = "one_vs_rest"
	oneVsOne  = "one_vs_one"

	maxPairedClasses = 128
)

func (p *Params) classesParameter() params.Parameter {
	return params.Choice("classes", &p.Classes, oneVsRest, oneVsRest, oneVsOne).
		Says("With more than two classes: one_vs_rest has a machine for each class against the others, and the highest score " +
			"decides; one_vs_one has one for each two classes, over their records, and they vote. Two classes have one machine " +
			"in any case.")
}

// machines is how many there are.
func (m *model) machines() int {
	switch n := m.space.Labels.Len(); {
	case n <= 2:
		return 1
	case m.paired:
		return voting.Classes(n).Machines()
	default:
		return n
	}
}

// slots is how many machines a record is in.
func (m *model) slots() int {
	if m.paired {
		return m.pairs().Slots()
	}
	return m.machines()
}

// pairs numbers the machines of a model that has one for each two classes.
func (m *model) pairs() voting.Classes { return voting.Classes(m.space.Labels.Len()) }

// at is the machine of a class at a slot, and the side of the class in it.
func (m *model) at(class, slot int) (machine int, side float64) {
	if m.paired {
		return m.pairs().At(class, slot)
	}
	return slot, m.side(slot, class)
}

// slot is where the records of a class have their coefficients of a machine, which has the class on some side.
func (m *model) slot(machine, class int) int {
	if m.paired {
		first, second := m.pairs().Pair(machine)
		return m.pairs().Slot(class, first+second-class)
	}
	return machine
}

// side is +1 if a class is what a machine looks for, -1 if it is one of the others, 0 if the machine is not about it;
// of numbers it is +1.
func (m *model) side(machine, class int) float64 {
	switch {
	case m.regresses:
		return 1
	case m.paired:
		return m.pairs().Side(machine, class)
	case m.machines() == 1:
		machine = 1
	}
	if class == machine {
		return 1
	}
	return -1
}

// sought is the class of side +1 of a machine.
func (m *model) sought(k int) (class int) {
	switch {
	case m.paired:
		_, class = m.pairs().Pair(k)
		return class
	case m.machines() == 1:
		return 1
	}
	return k
}

// others names side -1 of a machine.
func (m *model) others(k int) string {
	switch {
	case m.paired:
		first, _ := m.pairs().Pair(k)
		return string(m.space.Labels.At(first))
	case m.machines() == 1:
		return string(m.space.Labels.At(0))
	}
	return "others"
}

// machineName says what a machine looks for.
func (m *model) machineName(k int) string {
	switch {
	case m.regresses:
		return "value"
	case m.paired || m.machines() == 1:
		return fmt.Sprintf("%s against %s", m.space.Labels.At(m.sought(k)), m.others(k))
	}
	return string(m.space.Labels.At(k))
}

// classesField is in a model that has a machine for each two classes, and in no other.
func (m *model) classesField(f *jobs.Fields) {
	const name = "classes"
	if m.paired = f.Has(name, m.paired); m.paired {
		classes := oneVsOne
		f.Choice(name, &classes, oneVsOne)
		n := m.space.Labels.Len()
		f.Require(n > 2 && n <= maxPairedClasses, "a model of pairs of %d classes", n)
	}
}

// checkPairs refuses more classes than there may be machines of two for.
func checkPairs(classes int) error {
	if classes > maxPairedClasses {
		return protocol.InputFault(protocol.CodeInputLimit,
			"%d classes are too many: classes %s has a machine for each two of up to %d", classes, oneVsOne,
			maxPairedClasses).WithHint("Take classes: one_vs_rest, or check spec.input.label.")
	}
	return nil
}

// classesOf names how a model tells more than two classes apart.
func classesOf(paired bool) string {
	if paired {
		return oneVsOne
	}
	return oneVsRest
}
