// Package asm holds the vector operations in machine words, and nothing else.
//
// Each function is the Go loop in its comment, for one instruction set. It trusts
// its arguments: package kernelops checks lengths, overlap and the CPU once, before it
// calls. The assembly is written by the programs in _gen (avo, BSD license) and checked
// in; on other architectures, and with the build tag purego, the package is empty.
//
// Assembly cannot be preempted, so one call must stay well below a millisecond;
// kernelops cuts long rows.
package asm

//go:generate go run -C _gen . -family rows -pkg asm -out ../rows_amd64.s -stubs ../rows_amd64.go
//go:generate go run -C _gen . -family vector -pkg asm -out ../vector_amd64.s -stubs ../vector_amd64.go
//go:generate go run -C _gen . -family reduce -pkg asm -out ../reduce_amd64.s -stubs ../reduce_amd64.go
//go:generate go run -C _gen . -family hamming -pkg asm -out ../hamming_amd64.s -stubs ../hamming_amd64.go
//go:generate go run -C _gen . -family multiply -pkg asm -out ../multiply_amd64.s -stubs ../multiply_amd64.go
//go:generate go run -C _gen . -family pack -pkg asm -out ../pack_amd64.s -stubs ../pack_amd64.go
//go:generate go run -C _gen . -family epilogue -pkg asm -out ../epilogue_amd64.s -stubs ../epilogue_amd64.go
//go:generate go run -C _gen . -family select -pkg asm -out ../select_amd64.s -stubs ../select_amd64.go
//go:generate go run -C _gen . -family nearest -pkg asm -out ../nearest_amd64.s -stubs ../nearest_amd64.go
//go:generate go run -C _gen . -family screen -pkg asm -out ../screen_amd64.s -stubs ../screen_amd64.go
//go:generate go run -C _gen . -family parts -pkg asm -out ../parts_amd64.s -stubs ../parts_amd64.go
//go:generate go run -C _gen . -family sparse -pkg asm -out ../sparse_amd64.s -stubs ../sparse_amd64.go
//go:generate go run -C _gen . -family mixed -pkg asm -out ../mixed_amd64.s -stubs ../mixed_amd64.go
//go:generate go run -C _gen . -family products -pkg asm -out ../products_amd64.s -stubs ../products_amd64.go
//go:generate go run -C _gen . -family bytes -pkg asm -out ../bytes_amd64.s -stubs ../bytes_amd64.go
//go:generate go run -C _gen . -family assign -pkg asm -out ../assign_amd64.s -stubs ../assign_amd64.go
//go:generate go run -C _gen . -family decimals -pkg asm -out ../decimals_amd64.s -stubs ../decimals_amd64.go
