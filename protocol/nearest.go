package protocol

import "strings"

// Nearest returns the candidate that is nearest to word, or "". It is within two edits, or one if word has two letters,
// or none if it has one; case does not count. The first of equals wins; word itself is never suggested.
func Nearest(word string, candidates []string) string { return nearestWithin(word, candidates, 2) }

func nearestWithin(word string, candidates []string, edits int) string {
	edits = min(edits, 1+len(word)/3)
	if len(word) < 2 {
		edits = 0 // any other letter would be near
	}
	best, bestDistance := "", edits+1
	for _, c := range candidates {
		if c == word {
			continue
		}
		if d := editDistance(strings.ToLower(word), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance is Levenshtein's, by bytes, in one row.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
