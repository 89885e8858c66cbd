// Package linearmodel is the linear support vector machine as a job, of classes or of numbers: the kind LinearModel,
// trained by its dual. Package dual has its mathematics: the losses, both solvers and the certificate.
//
// Of two classes there is one machine, whose side +1 is the second label in byte order; of more there is one for each
// class against the others, and the highest score decides, of equals the first. With params.classes one_vs_one there
// is one for each two classes, over the records of the two, and they vote (package voting). A record costs params.C
// times its weight times that of its class; one that costs 0 is left out. The bias is the weight of a column that is
// params.bias_scale in every record, so it is penalized like any other. In mode regress there is one machine, whose
// score is to be the label; labels are read as numbers in each round, and are not counted before.
//
// # Over blocks
//
// The records lie in at most params.blocks logical blocks of one size (package blocks), each the leaf of a round. With
// solver newton a leaf adds up, at the weights that come in, what a step of Newton's method needs: a matrix of columns
// by columns among it. With solver ascend it goes up by itself from these weights, one coefficient after another, in
// an order drawn by (seed, round, id or ordinal); a block of more than 2^22 numbers in windows of about that many
// (package shuffle). Another number of blocks gives other last digits of a model that is proved as good, and with
// ascend another number of rounds.
//
// The coefficients of a block are its leaf's carry, of each training record and each machine that the record is in, in
// the order in which the block is read: with newton they and their centers, with ascend they and how they are about to
// change.
//
// # Phases
//
//	features   width, labels, scaling, dictionary; see package features
//	newton     one round each: measure at the incoming weights, certify, step
//	ascend     in its place: measure at the incoming weights, certify, ascend
//	           in the last of them, write the support vectors if asked, and count them; look for a proof that no
//	           machine separates (package gordan)
//	evaluate   on the test records, where there are some
//
// A machine is done when the proved gap is at most params.tol of its primal objective. The job ends when all are, or
// after params.max_rounds rounds; the model says of each machine what is proved of it, and keeps the weights of the
// least primal objective.
//
// With params.reject_below the model has a threshold of the confidence of its decisions, and rejects the records below
// it (evaluation.Rejection).
package linearmodel
