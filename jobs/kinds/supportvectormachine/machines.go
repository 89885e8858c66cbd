package supportvectormachine

// pairs numbers the machines of a number of classes, one for each two of them: (0, 1), (0, 2), ..., (1, 2), ... A
// record has a coefficient in each machine of its class, at the slot of the other class.
type pairs int

// slots is how many machines a record is in.
func (n pairs) slots() int { return int(n) - 1 }

// machines is how many there are.
func (n pairs) machines() int { return int(n) * (int(n) - 1) / 2 }

// machine is the number of that of two classes, of which the first is less.
func (n pairs) machine(first, second int) int { return first*(2*int(n)-first-1)/2 + second - first - 1 }

// classes are those of a machine.
func (n pairs) classes(machine int) (first, second int) {
	for machine >= int(n)-1-first {
		machine -= int(n) - 1 - first
		first++
	}
	return first, first + 1 + machine
}

// slot is where a record of a class has its coefficient for the machine against another.
func (n pairs) slot(class, other int) int {
	if other > class {
		other--
	}
	return other
}

// at is the machine of a class at a slot, and the side of the class in it: +1 of the second class of a pair.
func (n pairs) at(class, slot int) (machine int, y float64) {
	if slot >= class {
		return n.machine(class, slot+1), -1
	}
	return n.machine(slot, class), 1
}

// side is +1 of the second class of a machine, -1 of the first.
func (n pairs) side(machine int, class int32) float64 {
	if _, second := n.classes(machine); int(class) == second {
		return 1
	}
	return -1
}
