// Package parts writes a result that has a row for every record: one output object for
// each leaf, and an index that says in which order they follow each other.
//
// A part is a whole file of its format (a CSV part has its own header line), so that it
// can be read alone; Joiner makes one file of all.
package parts
