package dataset

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

func documentInput(format string) protocol.Input {
	return formatInput(format, func(in *protocol.Input) { in.Label.Name = protocol.FolderLabel })
}

// One record an object, under its key, with the first folder as the label, in shards of any size.
func TestDocumentsByHand(t *testing.T) {
	files := map[string]string{"ham/1": "\ufeffgood\nday", "ham/deep/2.gz": zipped("x"), "spam/3": "",
		"spam/4": "buy\ttoo"}
	want := []record{{Identity{"ham/1", 0}, "ham", "good\nday"}, {Identity{"ham/deep/2", 0}, "ham", "x"},
		{Identity{"spam/4", 0}, "spam", "buy\ttoo"}}
	for _, size := range []protocol.ByteSize{1, 12, 1 << 20} {
		in := documentInput("document")
		in.ShardBytes = size
		s, shards, err := openInput(storeOf(t, files), in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(t.Context(), s, shards)
		if err != nil || !reflect.DeepEqual(got.Records, want) {
			t.Errorf("shards of %d: %v, %v; want %v", size, got, err, want)
		}
		if packed := map[protocol.ByteSize]int{1: 3, 12: 3, 1 << 20: 1}[size]; len(shards) != packed {
			t.Errorf("shards of %d: there are %d, want %d", size, len(shards), packed)
		}
	}
	in := documentInput("document")
	in.MaxRecordBytes = 64
	if rows, _, err := readFile(t, in, map[string]string{"a/b": strings.Repeat("x", 64)}); err != nil ||
		len(rows) != 1 {
		t.Errorf("a document of max_record_bytes: %v, %v", rows, err)
	}
	in.Label = protocol.Column{}
	if rows, _, err := readFile(t, in, map[string]string{"a": "b"}); err != nil || len(rows) != 1 ||
		rows[0].Label != "" {
		t.Errorf("without labels: %v, %v", rows, err)
	}
}

// Many small objects stand in blocks of many records, and large ones in blocks of their own.
func TestDocumentsAreHeldInBounds(t *testing.T) {
	files, total := map[string]string{}, 0
	for i := range 500 {
		text := strings.Repeat("word ", 1+i*i%2000)
		files[fmt.Sprintf("c%d/%03d", i%3, i)], total = text, total+len(text)
	}
	s, shards, err := openInput(storeOf(t, files), documentInput("document"))
	if err != nil || len(shards) != 1 {
		t.Fatal(len(shards), err)
	}
	blocks, records := 0, 0
	for b, err := range s.Blocks(t.Context(), shards[0]) {
		if err != nil {
			t.Fatal(err)
		}
		blocks++
		for i, id := range b.IDs {
			if records++; string(b.Texts[i]) != files[id.Object] {
				t.Fatalf("%v has another text", id)
			}
		}
	}
	if most := 1 + total/heldDocuments; records != 500 || blocks > most || blocks < 2 {
		t.Errorf("%d records in %d blocks, want 500 in 2 to %d", records, blocks, most)
	}
}

// A block ends with the document that makes it heldDocuments long.
func TestDocumentsOfOneBlock(t *testing.T) {
	half := strings.Repeat("x", heldDocuments/2)
	store := storeOf(t, map[string]string{"a/1": half, "a/2": half, "a/3": "x"})
	s, shards, err := openInput(store, documentInput("document"))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for b, err := range s.Blocks(t.Context(), shards[0]) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, len(b.IDs))
	}
	if !slices.Equal(got, []int{2, 1}) {
		t.Errorf("blocks of %v documents, want 2 and 1", got)
	}
}

func TestDocumentFaults(t *testing.T) {
	for _, c := range []struct {
		reason, key, data string
		code              protocol.Code
		offset            int64
	}{
		{noFolder, "top", "x", protocol.CodeBadRecord, 0},
		{notUTF8, "a/b", "\ufeffx\xff", protocol.CodeBadRecord, 4},
		{nulByte, "a/b", "x\x00", protocol.CodeBadRecord, 1},
		{nulByte, "a/b", "\x00", protocol.CodeBadRecord, 0},
		{tooLong, "a/b", strings.Repeat("x", 65), protocol.CodeInputLimit, 0},
		{tooLong, "a/b.gz", zipped(strings.Repeat("x", 65)), protocol.CodeInputLimit, 0},
	} {
		in := documentInput("document")
		in.MaxRecordBytes = 64
		files := map[string]string{"a/a": "good", c.key: c.data}
		_, _, err := readFile(t, in, files)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != c.code || fault.Object != c.key ||
			*fault != *fault.WithOffset(c.offset) || !strings.Contains(fault.What, c.reason) || fault.Hint == "" {
			t.Errorf("%s: %+v", c.reason, err)
		}
		in.OnBadRecord.SkipMax = 1
		rows, skipped, err := readFile(t, in, files)
		if want := []Skip{{ID: Identity{Object: c.key}, Reason: c.reason}}; err != nil || len(rows) != 1 ||
			!slices.Equal(skipped, want) {
			t.Errorf("%s, skipped: %v %v %v", c.reason, rows, skipped, err)
		}
	}
	if _, _, err := readFile(t, documentInput("document"),
		map[string]string{"a/b.gz": zipped("some text")[:15]}); !isCode(err, protocol.CodeBadRecord) {
		t.Errorf("gzip cut short: %v", err)
	}
}

// A mail whose text grows beyond the bound in decoding is too long, too.
func TestMailIsARecord(t *testing.T) {
	files := map[string]string{"spam/1": "Subject: =?utf-8?q?caf=C3=A9?=\nX-Other: no\n\nhello\n",
		"ham/2": "no header here"}
	got, _, err := readFile(t, documentInput("mail"), files)
	want := []row{{Label: "ham", Text: "no header here\n"}, {Label: "spam", Text: "subject: café\nhello\n"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	in := documentInput("mail")
	in.MaxRecordBytes, in.MailHeaders = 40, []string{"*"}
	if got, _, err = readFile(t, in, files); err == nil {
		t.Errorf("beyond max_record_bytes: %v", got)
	}
	in.MaxRecordBytes = 64
	long := map[string]string{"a/1": "\n" + strings.Repeat("\x80", 63)} // the euro of windows-1252: three bytes
	if _, _, err := readFile(t, in, long); !isCode(err, protocol.CodeInputLimit) {
		t.Errorf("a text that grows: %v", err)
	}
}

// FuzzDocuments takes any bytes for objects: they are records, the same packed in any way, or skipped.
func FuzzDocuments(f *testing.F) {
	f.Add([]byte("a\x00b"), []byte("\ufeffSubject: x\n\ny"), uint8(3), true)
	f.Add([]byte("\xff"), []byte{}, uint8(1), false)
	f.Fuzz(func(t *testing.T, one, two []byte, shard uint8, mail bool) {
		if len(one)+len(two) == 0 {
			return
		}
		in := documentInput("document")
		if mail {
			in = documentInput("mail")
		}
		in.OnBadRecord.SkipMax, in.MaxRecordBytes = math.MaxInt64, 4096
		files := map[string]string{"a/1": string(one), "b/2": string(two), "c": string(two)}
		maps.DeleteFunc(files, func(_, data string) bool { return data == "" })
		rows, skipped, err := readFile(t, in, files)
		if err != nil || len(rows)+len(skipped) != len(files) {
			t.Fatalf("%v %v %v", rows, skipped, err)
		}
	})
}
