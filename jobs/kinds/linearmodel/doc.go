// Package linearmodel is the linear support vector machine as a job: the kind LinearModel, trained by its dual. Package
// dual has its mathematics: the losses, the rounds and the certificate.
//
// Of two classes there is one machine, whose side +1 is the second label in byte order; of more there is one for each
// class against the others, and the highest score decides, of equals the first. A record costs params.C times its
// weight times that of its class; one that costs 0 is left out. The bias is the weight of a column that is
// params.bias_scale in every record, so it is penalized like any other.
//
// # Over blocks
//
// In a round each logical block of params.block_records (package blocks) ascends by itself from the shared weights, one
// coefficient after the other, in an order drawn by (seed, round, id or ordinal); a block of more than 2^22 numbers in
// windows of about that many (package shuffle). The step along what the blocks propose is the best there is. So another
// block_records gives other last digits, and another number of rounds, of a model that is proved as good.
//
// The coefficients of a block, and how they are about to change, are its leaf's carry: one of each for each machine and
// each training record, in the order in which the block is read.
//
// # Phases
//
//	features   width, labels, scaling, dictionary; see package features
//	ascend     one round each: measure at the incoming weights, certify, ascend
//	evaluate   on the test records, where there are some
//
// A machine is done when the proved gap is at most params.tol of its primal objective. The job ends when all are, or
// after params.max_rounds rounds; the model says of each machine what is proved of it, and keeps the weights of the
// least primal objective.
package linearmodel
