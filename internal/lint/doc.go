// Package lint holds Gram's rules as checks that its tests run over the tree.
//
// Rules that need types are go/analysis analyzers; each says in its Doc what it
// forbids and why:
//
//	numeric code (kernelops, dataset, jobs): Products, MathCalls, FloatToInt, MapOrder, TotalOrder, Sources
//	decisions (coordinator/state, coordinator/schedule): Pure, MapOrder, Sources; state also NoFloats
//
// Rules that need only the text work on the files git knows: Imports, Sizes,
// Names, Docs, Sleeps, Addresses, Links, Rooms and Dependencies. crowded.tsv lists
// the packages and types that Rooms puts up with; their counts may only fall.
//
// Two comments excuse a line, on it or right above it, and must give a reason;
// one that excuses nothing is itself reported:
//
//	//lint:ordered REASON   a range over a map whose order cannot reach a result
//	//lint:checked REASON   a float-to-integer conversion whose range is known
package lint
