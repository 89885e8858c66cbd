package dataset

import "testing"

// room counts what is reserved of it.
type room struct{ size, used int64 }

func (r *room) Reserve(bytes int64) bool {
	if r.used+bytes > r.size {
		return false
	}
	r.used += bytes
	return true
}

func (r *room) Release(bytes int64) { r.used -= bytes }

func TestMemo(t *testing.T) {
	r := &room{size: 10}
	block := &Block{IDs: make([]Identity, 5), Memo: NewMemo(r)}
	if value, _ := block.Memo.Value(); value != nil || block.Memo.Reserve(11) || !block.Memo.Reserve(10) {
		t.Fatalf("an empty memo has %v, and %d bytes of 10 are reserved", value, r.used)
	}
	block.Memo.Keep("first", 10)
	if value, first := block.Memo.Value(); value != "first" || first != 0 || block.Memo.Reserve(0) {
		t.Errorf("kept %v from record %d", value, first)
	}
	r.size = 20
	r.Reserve(5)
	if block.Memo.Keep("second", 5); r.used != 10 {
		t.Errorf("%d bytes are reserved after a second value", r.used)
	}
	if value, _ := block.Memo.Value(); value != "first" {
		t.Errorf("the second value, %v, replaced the first", value)
	}
	var none Memo
	if value, _ := none.Value(); value != nil || none.Reserve(0) {
		t.Errorf("no memo has %v", value)
	}
}

// A part of a block finds the memo of the whole, and keeps nothing in it.
func TestMemoOfAPart(t *testing.T) {
	r := &room{size: 10}
	block := &Block{IDs: make([]Identity, 5), Memo: NewMemo(r)}
	if part := block.Slice(0, 4); part.Memo.Reserve(1) {
		t.Error("a part may keep something for the whole")
	}
	if whole := block.Slice(0, 5); !whole.Memo.Reserve(1) {
		t.Error("the whole, as a slice, may keep nothing")
	} else {
		whole.Memo.Keep("it", 1)
	}
	if value, first := block.Slice(1, 5).Slice(2, 3).Memo.Value(); value != "it" || first != 3 {
		t.Errorf("a part of a part has %v from record %d, want record 3", value, first)
	}
}
