package supportvectormachine

import "github.com/gram-compute/gram/jobs/learn/voting"

// pairs numbers the machines of a number of classes, one for each two of them; see voting.Classes.
type pairs voting.Classes

func (n pairs) slots() int { return voting.Classes(n).Slots() }

func (n pairs) machines() int { return voting.Classes(n).Machines() }

func (n pairs) classes(machine int) (first, second int) { return voting.Classes(n).Pair(machine) }

func (n pairs) slot(class, other int) int { return voting.Classes(n).Slot(class, other) }

func (n pairs) at(class, slot int) (machine int, y float64) { return voting.Classes(n).At(class, slot) }

func (n pairs) side(machine int, class int32) float64 {
	return voting.Classes(n).Side(machine, int(class))
}
