package dataset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// The column that groups records is read in each format that has columns, whatever the shards, and is no feature.
func TestGroupsByHand(t *testing.T) {
	number := func(in *protocol.Input) { in.Label.Number, in.Split.Group.Number = 1, 2 }
	for name, c := range map[string]struct {
		in   protocol.Input
		data string
		bad  string
	}{
		"csv": {formatInput("csv", number), "a,p,1\nb,\"q\",2\na,p,3\n", "a,,1\n"},
		"csv by name": {formatInput("csv", func(in *protocol.Input) {
			in.Header, in.Label.Name, in.Split.Group.Name = true, "y", "who"
		}), "x,who,y\n1,p,a\n2,q,b\n3,p,c\n", "1,,a\n"},
		"tsv": {formatInput("tsv", func(in *protocol.Input) { number(in); in.Text.Number = 3 }),
			"a\tp\tone\nb\tq\ttwo\na\tp\tthree\n", "a\t\tone\n"},
		"jsonl": {formatInput("jsonl", func(in *protocol.Input) {
			in.Features, in.Split.Group.Name = []protocol.Column{{Name: "x"}}, "w"
		}), "{\"x\":1,\"w\":\"p\"}\n{\"w\":\"q\",\"x\":2}\n{\"x\":3,\"w\":\"p\"}\n", "{\"x\":1,\"w\":\"\"}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			want := []uint64{GroupOf([]byte("p")), GroupOf([]byte("q")), GroupOf([]byte("p"))}
			for _, size := range []protocol.ByteSize{1, 7, 1 << 20} {
				c.in.ShardBytes = size
				if got, err := groupsOf(t, c.in, c.data); err != nil || !slices.Equal(got, want) {
					t.Errorf("shards of %d: %v, %v", size, got, err)
				}
			}
			_, err := groupsOf(t, c.in, c.data+c.bad)
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord ||
				!strings.HasSuffix(fault.What, emptyGroup) {
				t.Errorf("an empty group: %v", err)
			}
			c.in.OnBadRecord.SkipMax = 1
			if got, err := groupsOf(t, c.in, c.data+c.bad); err != nil || !slices.Equal(got, want) {
				t.Errorf("a group that is skipped: %v, %v", got, err)
			}
		})
	}
}

func groupsOf(t *testing.T, in protocol.Input, data string) (groups []uint64, err error) {
	in.Split.Folds = 2
	t.Helper()
	store := storeOf(t, map[string]string{"d/f": data})
	m, shards, err := Plan(t.Context(), store, "d/", in)
	if err != nil {
		return nil, err
	}
	s, err := NewSource(store, "d/", m, in)
	if err != nil {
		return nil, err
	}
	for _, shard := range shards {
		for block, err := range s.Blocks(t.Context(), shard) {
			if err != nil {
				return nil, err
			}
			if len(block.Groups) != len(block.IDs) || block.Dense.Width > 1 {
				t.Fatalf("%d groups of %d records of width %d", len(block.Groups), len(block.IDs), block.Dense.Width)
			}
			n := len(block.IDs) / 2
			groups = append(append(groups, block.Slice(0, n).Groups...), block.Slice(n, len(block.IDs)).Groups...)
		}
	}
	return groups, nil
}
