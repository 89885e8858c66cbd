package asm

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The instructions that package kernelops has made sure of where it takes a set, by the extension that
// brings them (Intel SDM volume 2, the column "CPUID feature flag"). One not listed fails the
// test: look its flag up, for its width, before adding it.
var (
	everyAMD64 = strings.Fields(
		`ADDQ ANDQ BSFQ CMOVQEQ CMOVQGT CMOVQLT CMPB CMPL CMPQ DECQ IMUL3Q IMULQ INCQ JE JG JGE JL JLE JMP JNE
		JNZ JZ LEAQ MOVB MOVL MOVLQSX MOVQ NEGQ NOTL ORL ORQ PREFETCHT0 PREFETCHT1 RET ROLQ RORQ SFENCE SHLL SHLQ SHRQ SUBQ TESTQ XORQ`)
	bmi2         = []string{"BZHIQ"}
	avx2OrBefore = strings.Fields(
		`VADDPD VADDPS VADDSD VADDSS VANDNPS VANDPS VBLENDVPS VBROADCASTI128 VBROADCASTSD VBROADCASTSS
		VCMPPS VCVTDQ2PS VCVTPS2DQ VCVTPS2PD VCVTSS2SD VDIVPS VEXTRACTF128 VEXTRACTI128 VHADDPD VINSERTF128 VINSERTPS VMASKMOVPD VMASKMOVPS VMAXPD VMAXPS VMAXSD VMINPD VMINPS VMINSD
		VMOVAPS VMOVD VMOVDQU VMOVHLPS VMOVHPD VMOVLHPS VMOVMSKPS VMOVNTPS VMOVQ VMOVSD VMOVSHDUP VMOVSS VMOVUPD VMOVUPS VMULPD VMULPS
		VMULSD VORPS VPADDB VPADDD VPADDQ VPAND VPBROADCASTB VPBROADCASTD VPBROADCASTQ VPCMPEQD VPCMPGTD VPCMPGTQ
		VPERM2F128 VPERMILPD VPERMILPS VPMASKMOVQ VPMAXSD VPMAXUD VPMINSD VPMINUD VPMOVZXDQ VPSADBW VPSHUFB
		VPSHUFD VPSLLD VPSLLQ VPSRAD VPSRLD VPSRLW VPSUBD VPTEST VPUNPCKLWD VPXOR VROUNDPS
		VSHUFPS VSUBPD VSUBPS VSUBSD VUNPCKHPD VUNPCKHPS VUNPCKLPD VUNPCKLPS VXORPS VZEROUPPER`)
	fma3 = strings.Fields(`VFMADD132PS VFMADD213PS VFMADD231PD VFMADD231PS VFMADD231SD VFMADD231SS VFNMADD231PD
		VFNMADD231PS VFNMADD231SD`)
	// With zmm or mask registers. Not VANDPS, VORPS and VXORPS, which are AVX512DQ there.
	avx512f = strings.Fields(`KMOVW VADDPD VADDPS VBROADCASTSD VBROADCASTSS VCMPPD VCMPPS VCVTDQ2PS VCVTPS2DQ VCVTPS2PD VCVTTPD2DQ
		VDIVPS VEXTRACTF64X4 VGATHERDPD VINSERTI64X4 VPMULLD
		VEXTRACTI64X4 VFMADD132PS VFMADD213PS VFMADD231PD VFMADD231PS VFNMADD231PD VFNMADD231PS VMAXPD VMAXPS VMINPD VMINPS VMOVAPS VMOVDQA32 VMOVDQU32 VMOVDQU64 VMOVNTPS VMOVUPD
		VMOVUPS VMULPD VMULPS VPADDD VPADDQ VPANDD VPANDND VPBROADCASTD VPCMPD VPCMPEQD VPERMILPS VPMAXSD VPMAXUD VPMINSD VPMINUD VPMOVQB VPORD VPSLLD VPSLLQ
		VPSRAD VPSRLD VPSUBD VPTERNLOGD VPXORD VPXORQ VRNDSCALEPS VSHUFF32X4 VSQRTPS VSUBPD VSUBPS`)
	vpopcntdq = []string{"VPOPCNTQ"}
	vnni      = []string{"VPDPBUSD"}
	// AVX512BW, AVX512DQ, AVX512VBMI, AVX512VBMI2, BMI1 and POPCNT, which kernelops/decimal asks for.
	forDecimals = strings.Fields(`KMOVQ KORW VALIGNQ VCMPPD VCVTDQ2PS VCVTPD2PS VCVTUQQ2PD VDIVPD VMOVDQU8 VPACKUSDW VPADDB
		VPANDQ VPCMPB VPCMPEQB VPCMPEQQ VPCMPUB VPCOMPRESSB VPERMB VPERMI2PD VPMADDUBSW VPMADDWD VPORQ VPSADBW VPSHUFB VPSHUFD
		VPSRLQ VPSUBB VPSUBUSB VPTESTMD VPTESTMQ VPUNPCKHQDQ VPUNPCKLQDQ BTSQ PDEPQ PEXTQ POPCNTQ TZCNTQ MOVBLZX VPBROADCASTB`)
)

var (
	zmm        = regexp.MustCompile(`\bZ[0-9]+\b`)
	mask       = regexp.MustCompile(`\bK[0-7]\b`)
	highVector = regexp.MustCompile(`\b[XY](1[6-9]|2[0-9]|3[01])\b`)
)

// beyond says what the instruction needs that the machine of the named function need not have, or
// nothing. Mask registers on xmm and ymm, and their upper 16, are AVX512VL.
func beyond(function, instruction string) string {
	mnemonic, operands, _ := strings.Cut(strings.TrimSpace(instruction), " ")
	mnemonic, _, _ = strings.Cut(mnemonic, ".") // .Z and .BCST are part of AVX512F
	wide := strings.HasSuffix(function, "AVX512")
	switch {
	case highVector.MatchString(operands):
		return "AVX512VL: " + instruction
	case function == "DecimalsAVX512" && slices.Contains(forDecimals, mnemonic):
	case zmm.MatchString(operands) || mask.MatchString(operands):
		known := wide && slices.Contains(avx512f, mnemonic) ||
			function == "HammingRowsAVX512" && slices.Contains(vpopcntdq, mnemonic) || // taken by that flag
			(slices.Contains([]string{"ByteTile", "ByteNear", "ByteMost"}, function[:min(8, len(function))]) ||
				function == "ScreenBytesAVX512") &&
				slices.Contains(vnni, mnemonic) // and so are these
		if !known || !zmm.MatchString(operands) && mnemonic != "KMOVW" {
			return "more than AVX512F: " + instruction
		}
	case strings.HasSuffix(function, "AVXVNNI") && mnemonic == "BYTE":
		if _, err := decodeVEX(instruction); err != nil {
			return err.Error()
		}
	case strings.HasSuffix(function, "AVX512VL") && slices.Contains(vnni, mnemonic):
	case slices.Contains(everyAMD64, mnemonic):
	case slices.Contains(avx2OrBefore, mnemonic) || slices.Contains(fma3, mnemonic):
	case wide && slices.Contains(bmi2, mnemonic):
	default:
		return fmt.Sprintf("an extension not made sure of: %q", instruction)
	}
	return ""
}

// TestBeyond checks the check.
func TestBeyond(t *testing.T) {
	const vexProduct = "BYTE $0xc4; BYTE $0xe2; BYTE $0x75; BYTE $0x50; BYTE $0xc2 // VPDPBUSD Y2, Y1, Y0"
	for _, c := range []struct {
		function, instruction string
		want                  bool
	}{
		{"DotAVX512", "VPXORD Z1, Z1, Z1", false},
		{"DotAVX512", "VMOVUPS.Z (AX), K1, Z1", false},
		{"DotAVX512", "KMOVW AX, K1", false},
		{"DotAVX512", "BZHIQ AX, BX, CX", false},
		{"DotAVX2", "VXORPS Y1, Y1, Y1", false},
		{"HammingRowsAVX512", "VPOPCNTQ Z1, Z1", false},
		{"DotAVX512", "VXORPS Z1, Z1, Z1", true},     // AVX512DQ
		{"DotAVX512", "KMOVB AX, K1", true},          // AVX512DQ
		{"DotAVX512", "VMOVDQU8 (AX), Z1", true},     // AVX512BW
		{"DotAVX512", "VPXORD Y1, Y1, Y1", true},     // AVX512VL
		{"DotAVX512", "VADDPS Y1, Y2, K1, Y3", true}, // AVX512VL
		{"DotAVX512", "VADDPS Y1, Y2, Y31", true},    // AVX512VL
		{"DotAVX512", "VPOPCNTQ Z1, Z1", true},       // VPOPCNTDQ
		{"ByteTile6x64AVX512", "VPDPBUSD Z1, Z2, Z3", false},
		{"DotAVX512", "VPDPBUSD Z1, Z2, Z3", true}, // AVX512_VNNI
		{"DotAVX512", "TZCNTQ AX, BX", true},       // BMI1
		{"DotAVX2", "BZHIQ AX, BX, CX", true},      // BMI2
		{"DotAVX2", "POPCNTQ AX, BX", true},        // POPCNT
		{"DotAVX2", "VADDPS Z1, Z2, Z3", true},     // AVX512F
		{"DotAVX2", "BYTE $0x62", true},            // who knows
		{"ByteTile6x64AVXVNNI", vexProduct, false},
		{"ByteTile6x64AVX512VL", vexProduct, true},
		{"ByteTile6x64AVXVNNI", "VPDPBUSD Y2, Y1, Y0", true}, // Go's assembler encodes AVX512VL
		{"ByteTile6x64AVX512VL", "VPDPBUSD Y2, Y1, Y0", false},
		{"HammingRowsAVX2", "VPOPCNTQ Y1, Y1", true},       // VPOPCNTDQ and AVX512VL
		{"HammingRowsAVX512", "VPOPCNTB Z1, K1, Z1", true}, // AVX512_BITALG
	} {
		if got := beyond(c.function, c.instruction); got != "" != c.want {
			t.Errorf("%s in %s: %q", c.instruction, c.function, got)
		}
	}
}

// TestInstructionSets demands that no function needs an extension that its set is not chosen by.
func TestInstructionSets(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	wide := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range strings.Split(string(text), "\nTEXT ·")[1:] {
			name, _, _ := strings.Cut(function, "(")
			for line := range strings.SplitSeq(function, "\n") {
				if !strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "\t//") {
					continue // labels, comments and data
				}
				if zmm.MatchString(line) {
					wide++
				}
				if why := beyond(name, line); why != "" {
					t.Errorf("%s: %s needs %s", file, name, why)
				}
			}
		}
	}
	if wide < 100 {
		t.Errorf("%d instructions with zmm registers: the text is not read as it is written", wide)
	}
}
