// Package asm holds the loops that no kernel can beat: fused multiply-adds and products of bytes on registers alone,
// loads whose words are only XORed, and stores of one word. Measured in the same rounds, they say how much of the
// machine a kernel uses.
//
// The functions trust their arguments and the CPU.
package asm

//go:generate go run -C _gen . -pkg asm -out ../limits_amd64.s -stubs ../limits_amd64.go
