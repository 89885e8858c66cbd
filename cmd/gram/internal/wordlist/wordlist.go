// Package wordlist reads the scores of words from csv and tsv.
package wordlist

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gram-compute/gram/protocol"
)

// Format says how a list is written: a word and its score in each line. In csv fields may be quoted; in tsv they are
// between tabs as they are.
type Format struct {
	TSV    bool
	Header bool // the first line names the columns
}

// FormatOf returns the format by a file's name, or by the name of a format.
func FormatOf(name string) (f Format, ok bool) {
	switch name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]); name {
	case "csv", "tsv":
		return Format{TSV: name == "tsv"}, true
	}
	return Format{}, false
}

// Entry is a word with its score.
type Entry struct {
	Word  string
	Score float64
	Line  int64 // from 1
}

// Read reads a list. Lines without content are left out. What is no word with a score, and a word that was scored
// before, is a *protocol.Fault of CodeBadRecord with the line. Time and memory are linear in the bytes.
func Read(data []byte, f Format) (list []Entry, err error) {
	if bytes.HasPrefix(data, []byte("\ufeff")) { // some programs begin UTF-8 so
		data = data[len("\ufeff"):]
	}
	next := csvRows(data)
	if f.TSV {
		next = tsvRows(data)
	}
	lines := map[string]int64{}
	for header := f.Header; ; header = false {
		fields, line, err := next()
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fault(line, "%v", err)
		case header:
			continue
		}
		entry, err := entryOf(fields, line, len(list) == 0 && !f.Header)
		if err != nil {
			return nil, err
		}
		if before, twice := lines[entry.Word]; twice {
			return nil, fault(line, "the word %.80q has a score already, in line %d", entry.Word, before)
		}
		lines[entry.Word] = line
		list = append(list, entry)
	}
}

func fault(line int64, format string, args ...any) *protocol.Fault {
	return protocol.InputFault(protocol.CodeBadRecord, format, args...).At(line, 0)
}

// entryOf reads a line. The first may be a header that nobody told of.
func entryOf(fields []string, line int64, first bool) (e Entry, err error) {
	if len(fields) != 2 {
		return e, fault(line, "%d fields, not a word and its score", len(fields))
	}
	e = Entry{Word: fields[0], Line: line}
	switch {
	case e.Word == "":
		return e, fault(line, "the word is empty")
	case !utf8.ValidString(e.Word):
		return e, fault(line, "the word %.80q is not UTF-8", e.Word)
	}
	if e.Score, err = Number(strings.Trim(fields[1], " \t")); err != nil {
		bad := fault(line, "the score of %.80q: %v", e.Word, err)
		if first {
			bad = bad.WithHint("If the first line names the columns, give --header.")
		}
		return e, bad
	}
	return e, nil
}

// csvRows returns a function that reads the next row, and the line in which it begins.
func csvRows(data []byte) func() ([]string, int64, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	return func() ([]string, int64, error) {
		fields, err := r.Read()
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, int64(bad.Line), fmt.Errorf("not csv: %w, in column %d", bad.Err, bad.Column)
		}
		if err != nil {
			return nil, 0, err
		}
		line, _ := r.FieldPos(0)
		return fields, int64(line), nil
	}
}

// tsvRows is csvRows for tsv.
func tsvRows(data []byte) func() ([]string, int64, error) {
	line := int64(0)
	return func() ([]string, int64, error) {
		for len(data) > 0 {
			var row []byte
			row, data, _ = bytes.Cut(data, []byte("\n"))
			line++
			if row = bytes.TrimSuffix(row, []byte("\r")); len(row) > 0 {
				return strings.Split(string(row), "\t"), line, nil
			}
		}
		return nil, line, io.EOF
	}
}
