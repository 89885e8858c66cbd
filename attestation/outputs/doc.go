// Package outputs reads the folder of a finished job's outputs, in a store or on a disk, to sign it and to check its
// signatures.
//
//	folder, err := outputs.Read(ctx, store, "models/glosses-1/")
//	found := folder.Check(key)       // what of its signatures holds
//	files, err := folder.Sign(key)   // the two files of signatures, to be written beside, if its files agree
package outputs
