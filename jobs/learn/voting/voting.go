// Package voting is classification one against one: a machine for each two classes, which votes for one of them
// (Friedman, "Another approach to polychotomous classification", Stanford University, 1996).
package voting

import "math"

// Classes numbers the machines of N classes: (0, 1), (0, 2), ..., (1, 2), ... A record is in each machine of its
// class, at the slot of the other class.
type Classes int

// Slots is how many machines a record is in.
func (n Classes) Slots() int { return int(n) - 1 }

// Machines is how many there are.
func (n Classes) Machines() int { return int(n) * (int(n) - 1) / 2 }

// Machine is the number of that of two classes, of which the first is less.
func (n Classes) Machine(first, second int) int {
	return first*(2*int(n)-first-1)/2 + second - first - 1
}

// Pair is the classes of a machine. O(n).
func (n Classes) Pair(machine int) (first, second int) {
	for machine >= int(n)-1-first {
		machine -= int(n) - 1 - first
		first++
	}
	return first, first + 1 + machine
}

// Slot is where a record of a class has its number for the machine against another.
func (n Classes) Slot(class, other int) int {
	if other > class {
		other--
	}
	return other
}

// At is the machine of a class at a slot, and the side of the class in it: +1 of the second class of a pair, -1 of the
// first.
func (n Classes) At(class, slot int) (machine int, side float64) {
	if slot >= class {
		return n.Machine(class, slot+1), -1
	}
	return n.Machine(slot, class), 1
}

// Side is +1 of the second class of a machine, -1 of the first, 0 of the others. O(n).
func (n Classes) Side(machine, class int) float64 {
	switch first, second := n.Pair(machine); class {
	case second:
		return 1
	case first:
		return -1
	}
	return 0
}

// Vote sets the scores of the classes by the decisions of all machines, each above 0 for the second of its classes.
// Each machine votes, and the sum s of the decisions for a class adds s / (3 (|s| + 1)), less than half a vote, which
// decides between equal votes. Room has as many numbers as there are classes, and is lost.
func (n Classes) Vote(scores, room, decisions []float64) {
	clear(scores)
	clear(room)
	k := 0
	for first := range int(n) {
		for second := first + 1; second < int(n); second++ {
			d := decisions[k]
			room[first] -= d
			room[second] += d
			if d > 0 {
				scores[second]++
			} else {
				scores[first]++
			}
			k++
		}
	}
	for y, s := range room {
		scores[y] += s / float64(3*(math.Abs(s)+1))
	}
}
