package run

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// labelNotes are the labels of records, where there are few, and those among them that begin or end with a blank.
type labelNotes struct {
	Labels []string `json:"labels,omitempty"` // without blanks around them, in byte order
	Many   bool     `json:"many,omitempty"`   // too many to be kept
	Blank  []string `json:"blank,omitempty"`  // with blanks around them, in byte order; the first of them
}

func (n labelNotes) none() bool { return len(n.Labels) == 0 && len(n.Blank) == 0 }

func (n labelNotes) plus(o labelNotes) (sum labelNotes) {
	sum.Many = n.Many || o.Many
	if sum.Labels = united(n.Labels, o.Labels); sum.Many || tooMany(sum.Labels) {
		sum.Many, sum.Labels = true, nil
	}
	sum.Blank = united(n.Blank, o.Blank)
	sum.Blank = sum.Blank[:min(len(sum.Blank), maxBlankLabels)]
	return sum
}

func united(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func tooMany(labels []string) bool {
	size := 0
	for _, l := range labels {
		size += len(l)
	}
	return len(labels) > maxNotedLabels || size > maxLabelBytes
}

// labelTaker collects the labels of a pass.
type labelTaker struct {
	recent [64][]byte // labels that were seen, by slotOf
	seen   map[string]bool
	found  labelNotes
}

func slotOf(label []byte) int {
	return (len(label)*7 + int(label[0])*31 + int(label[len(label)-1])) & 63
}

func (t *labelTaker) add(label []byte) {
	if len(label) == 0 {
		return
	}
	slot := slotOf(label)
	if bytes.Equal(t.recent[slot], label) {
		return
	}
	if len(bytes.TrimSpace(label)) == len(label) && t.found.Many {
		return
	}
	t.recent[slot] = append(t.recent[slot][:0], label...)
	if t.seen[string(label)] {
		return
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	text := string(label)
	if strings.TrimSpace(text) != text {
		if len(t.found.Blank) < maxBlankLabels {
			t.seen[text] = true
			t.found.Blank = append(t.found.Blank, text)
		}
		return
	}
	t.seen[text] = true
	if t.found.Labels = append(t.found.Labels, text); len(t.found.Labels) > maxNotedLabels {
		t.found.Many, t.found.Labels = true, nil
	}
}

func (t *labelTaker) notes() labelNotes {
	slices.Sort(t.found.Labels)
	slices.Sort(t.found.Blank)
	return labelNotes{}.plus(t.found)
}

// texts warn of labels that differ only by blanks around them.
func (n labelNotes) texts() []string {
	var all []string
	for i, label := range n.Blank {
		plain := strings.TrimSpace(label)
		twin := slices.Contains(n.Labels, plain)
		other := plain
		for _, b := range n.Blank[:i] {
			if !twin && strings.TrimSpace(b) == plain {
				twin, other = true, b
			}
		}
		switch {
		case plain == "":
			all = append(all, fmt.Sprintf("the label %q is nothing but blanks, and a class of its own", label))
		case twin:
			all = append(all, fmt.Sprintf("the labels %q and %q differ only by blanks around them, and are two classes",
				other, label))
		default:
			all = append(all, fmt.Sprintf("the label %q has blanks around it, which are part of it", label))
		}
	}
	return all
}
