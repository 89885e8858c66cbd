package maporder

import (
	"maps"
	"slices"
)

type table map[string]int

func ranged(m map[string]int) (sum int) {
	for _, v := range m { // want `range over a map`
		sum += v
	}
	return sum
}

func named(t table) (keys []string) {
	for k := range t { // want `range over a map`
		keys = append(keys, k)
	}
	return keys
}

func generic[M ~map[string]int](m M) (keys []string) {
	for k := range m { // want `range over a map`
		keys = append(keys, k)
	}
	return keys
}

func iterated(m map[string]int) (keys []string) {
	for k := range maps.Keys(m) { // want `iterator over a map`
		keys = append(keys, k)
	}
	return keys
}

func collected(m map[string]int) []int { return slices.Collect(maps.Values(m)) } // want `iterator over a map`

func sorted(m map[string]int) (sum int) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		sum += m[k]
	}
	return sum
}

func copied(m map[string]int) map[string]int { return maps.Collect(maps.All(m)) }

func excused(m map[string]int) (sum int) {
	//lint:ordered integer addition commutes
	for _, v := range m {
		sum += v
	}
	return sum
}

func idle(s []int) (sum int) {
	//lint:ordered a slice has an order // want `excuses nothing`
	for _, v := range s {
		sum += v
	}
	return sum
}
