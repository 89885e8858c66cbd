// Package margin is what jobs of classifiers with a margin tell beside their model: bounds on the largest margin of
// each machine, the support vectors as an output, and pictures of machines over two columns.
package margin
