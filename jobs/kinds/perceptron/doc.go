// Package perceptron is the perceptron as a job: the kind Perceptron.
//
// It is Algorithm 3 of Smola and Vishwanathan, "Introduction to Machine Learning" (1.3 in the book): for
// each record (x, y) with y (<w, x> + b) <= 0,
//
//	w <- w + y x,  b <- b + y,
//
// for some epochs over the training records, or until an epoch makes no mistake. What the weights
// at the end are used for is the form:
//
//	plain       the last weights
//	averaged    the mean of the weights as they stood after each record (Freund and Schapire,
//	            "Large margin classification using the perceptron algorithm", Machine Learning 37(3), 1999)
//	voted       sign of the sum over k of c_k sign(<w_k, x> + b_k): each w_k met c_k records until its
//	            mistake (the same)
//	unweighted  the same with every c_k = 1
//
// The averaged form costs no more than its updates: beside w it keeps u, the sum of t times the
// update made at step t (steps counted from 0), and the mean is w - u/T after T steps. The forms
// that vote keep every w_k, up to max_vectors and to what max_state_bytes has room for beside the rest of the state,
// which is known before the first epoch. Of more they keep those with the most votes, of equals the later ones;
// metrics and the description count what was dropped. That does not depend on blocks: the first of all are
// among the first of each part.
//
// With two classes the second label in byte order is +1 (rule "signed"). With more there is a row of
// weights for each class, and a record of class y is learned from by
//
//	argmax       unless row y scores above the best other row r (of equals the first): w_y <- w_y + x,
//	             w_r <- w_r - x. From zero with two classes this makes the mistakes of Algorithm 3, with
//	             w_1 = -w_0 = w.
//	one_vs_rest  each row is Algorithm 3 for its class against the others
//
// and the highest row decides, the first of equals. An update is multiplied by the weight of the record and
// by class_weights of its class; a record that weighs 0 is not met.
//
// # Over blocks
//
// The records are learned from by logical blocks of params.block_records (package blocks), whatever shards and
// files they are in. "chained" is the algorithm as it stands: a round learns from some blocks, one at a time, and
// passes its state on, so that the weights are those of one loop over all records, to the bit. "mixed" is iterative
// parameter mixing (McDonald, Hall and Mann, "Distributed training strategies for the structured perceptron", NAACL
// 2010, figure 3): in each epoch every block learns from the shared weights, and their changes are added up exactly
// and divided
//
//	changed   each weight's by the number of blocks that changed it, so that what few blocks learn of a rare
//	          column is not diluted by those that never met it. For dense vectors it is nearly uniform. A block
//	          changed a weight if one of its updates reached it: if it learned from a record, into that row, that is
//	          not 0 in that column. Updates that cancel count; the bias is reached by all of its row.
//	uniform   by the number of blocks that have training records (the paper's)
//	mistakes  in proportion to the mistakes of each block (the paper's weighted one)
//
// Its averaged form is the mean over the steps of all blocks and epochs; with one block it is the chained one but
// for rounding. docs/perceptrons.md measures what mixing costs. The forms that vote, and distinct, are chained only.
//
// With shuffle, the blocks come in an order drawn by (seed, epoch), and the records inside a block
// in one drawn by (seed, epoch, ordinal). A block of more than 2^22 numbers is shuffled in
// windows of about that many (package shuffle).
//
// # Inseparable data
//
// distinct, a number D above 0, gives each training record a feature of its own whose value is D ("force it to be
// separable": the lecture notes; Freund and Schapire, theorem 2, after Klasner and Simon): so the mistakes
// are bounded whatever the data. It is for two classes. The features are not made: a record has one extra weight, in
// the state once it is not 0. A model does not hold them, for no other record has them.
//
// # Phases
//
//	features   width, labels, scaling, dictionary; see package features
//	begin      in its place with spec.model: the model's own
//	chained    or mixed: the epochs
//	margin     one pass with the last weights: the least margin, the radius
//	evaluate   on the test records, where there are some
//
// The margin is that of definition 1.6 over |(w, b)|. Where an epoch made no mistake and the weights
// began at zero, theorem 1.7 (Novikoff) bounds all mistakes by (R/margin)^2, with R the greatest |(x, 1)| (and D, where
// given); for argmax it is twice that, an update having two rows; for one_vs_rest the sum over classes bounds the
// updates. Weights other than 1 multiply it by the ratio of the greatest to the least.
//
// # Learning on
//
// A job with spec.model goes on with a model: its space, form and rule, which the spec must not contradict.
// Online is the same for one record after the other: predict, be told, update (section 1.3.4). Learner is the
// algorithm alone.
//
//	o, err := perceptron.Load(model, ops)
//	outcome, err := o.PredictText("...")      // or PredictVector, Predict
//	mistake, err := o.Update("the label")     // of the record last predicted
//	model = o.Model()                         // the same arrays, learned on
//
// With params.reject_below the model has a threshold of the confidence of its decisions, and rejects the records below
// it (evaluation.Rejection).
package perceptron
