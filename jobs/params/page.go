package params

import (
	"encoding/json"
	"fmt"
	"strings"
)

// What values parameters have, for people.
const (
	kindText    = "text"
	kindFlag    = "true or false"
	kindWhole   = "whole number"
	kindNumber  = "number"
	kindBytes   = "size"
	kindMap     = "object"
	kindList    = "list"
	kindWords   = "text or object"
	TypeSection = "section"
)

// Row is a parameter as the reference shows it; a section has a row for each of its parameters.
type Row struct {
	Name    string `json:"name"` // with those of its sections, such as "features.scale"
	Type    string `json:"type"`
	Default string `json:"default,omitempty"` // as JSON, or in words
	Values  string `json:"values,omitempty"`  // choices or bounds
	Doc     string `json:"doc"`
	From    string `json:"from,omitempty"` // a formula or source
}

// Rows returns the reference of a list, in its order.
func Rows(list []Parameter) []Row { return rowsIn("", list) }

func rowsIn(path string, list []Parameter) []Row {
	var rows []Row
	for _, p := range list {
		row := Row{Name: path + p.name, Type: p.kind, Default: p.defaultText(), Values: p.values(),
			Doc: p.doc, From: p.from}
		if p.kind != TypeSection || p.doc != "" {
			rows = append(rows, row)
		}
		rows = append(rows, rowsIn(path+p.name+".", p.section)...)
	}
	return rows
}

func (p Parameter) defaultText() string {
	if p.preset == nil {
		return p.missing
	}
	text, err := json.Marshal(p.preset)
	if err != nil {
		panic(err) // words, numbers and booleans have JSON
	}
	return strings.Trim(string(text), `"`)
}

func (p Parameter) values() string {
	if p.choices != nil {
		return strings.Join(p.choices, ", ")
	}
	return p.bounds
}

// Markdown returns the table of a list.
func Markdown(list []Parameter) string {
	var b strings.Builder
	b.WriteString("| Parameter | Type | Default | Values | Meaning |\n|---|---|---|---|---|\n")
	for _, r := range Rows(list) {
		doc := r.Doc
		if r.From != "" {
			doc += " " + r.From
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.Name, r.Type, cell(r.Default), cell(r.Values), cell(doc))
	}
	return b.String()
}

// cell escapes what would end a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
