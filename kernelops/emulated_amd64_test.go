//go:build !purego

package kernelops

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// emulator is a CPU with AVX-VNNI in another process, and the code for it of this binary: see
// deploy/tools/avxvnni/cpu.py.
type emulator struct {
	sync.Mutex // one call at a time
	to         *bufio.Writer
	from       io.Reader
	at         map[string]uint64 // where functions begin, by name
	calls      int
}

const emulatedFunctions = "github.com/gram-compute/gram/asm."

// emulated is the emulator, or nil where GRAM_AVXVNNI does not name the command that starts it.
var emulated = sync.OnceValue(func() *emulator {
	command := strings.Fields(os.Getenv("GRAM_AVXVNNI"))
	if len(command) == 0 {
		return nil
	}
	process := exec.Command(command[0], command[1:]...)
	process.Stderr = os.Stderr
	to, err := process.StdinPipe()
	must(err)
	from, err := process.StdoutPipe()
	must(err)
	must(process.Start()) // ends with this process, which closes its input
	e := &emulator{to: bufio.NewWriter(to), from: bufio.NewReader(from), at: map[string]uint64{}}
	code := e.code()
	e.word(uint64(len(code)))
	e.to.Write(code)
	return e
})

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// code finds the functions in this binary, which go test -c leaves the symbols in.
func (e *emulator) code() []byte {
	path, err := os.Executable()
	must(err)
	file, err := elf.Open(path)
	must(err)
	defer file.Close()
	symbols, err := file.Symbols()
	must(err)
	text := file.Section(".text")
	var code []byte
	for _, s := range symbols {
		name, ok := strings.CutPrefix(strings.TrimSuffix(s.Name, ".abi0"), emulatedFunctions)
		if !ok || !strings.HasSuffix(name, "AVXVNNI") || !strings.HasSuffix(s.Name, ".abi0") {
			continue
		}
		body := make([]byte, s.Size)
		_, err := text.ReadAt(body, int64(s.Value-text.Addr))
		must(err)
		e.at[name] = uint64(len(code))
		code = append(code, body...)
	}
	return code
}

func (e *emulator) word(v uint64) { e.to.Write(binary.LittleEndian.AppendUint64(nil, v)) }

// call calls a function with numbers and with slices, whose elements it may change, and returns its result.
func (e *emulator) call(name string, arguments ...any) uint64 {
	at, ok := e.at[name]
	if !ok {
		panic("no code of " + name)
	}
	e.Lock()
	defer e.Unlock()
	e.calls++
	e.word(at)
	e.word(uint64(len(arguments)))
	var slices [][]byte
	for _, a := range arguments {
		if n, ok := a.(int); ok {
			e.word(0)
			e.word(uint64(n))
			continue
		}
		b := a.([]byte)
		slices = append(slices, b)
		e.word(1)
		e.word(uint64(len(b)))
		e.to.Write(b)
	}
	must(e.to.Flush())
	var result uint64
	must(binary.Read(e.from, binary.LittleEndian, &result))
	for _, b := range slices {
		after := make([]byte, len(b))
		_, err := io.ReadFull(e.from, after)
		must(err)
		if !bytes.Equal(after, b) { // what the function reads only is left alone
			copy(b, after)
		}
	}
	return result
}

// memoryOf are the bytes of a slice.
func memoryOf[E any](v []E) []byte {
	var e E
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(e)))
}

// tile returns a byteTile for that number of queries. Slices may go on beyond what a call is about.
func (e *emulator) tile(name string, queries int) byteTile {
	return func(hits []uint64, dots []int32, x, y []uint32, terms, factors, limits []float32, starts []int32,
		spreads []float32, groups, panels int) uint64 {
		return e.call(name, memoryOf(hits[:queries*panels]), memoryOf(dots[:queries*panels*byteWidth]),
			memoryOf(x[:groups*queries]), memoryOf(y[:panels*groups*byteWidth]), memoryOf(terms[:panels*byteTerms]),
			memoryOf(factors[:queries]), memoryOf(limits[:queries]), memoryOf(starts[:queries]), memoryOf(spreads[:2]),
			groups, panels)
	}
}

// assign is the assignTile of AVX-VNNI.
func (e *emulator) assign() assignTile {
	const rows, width = 6, 16
	return assignTile{rows: rows, width: width,
		near: func(hits []uint64, hitWords, hitBytes int, limits, starts, kinds []int32, x []uint32, xStride int,
			y []uint32, groups, panels int) {
			e.call("ByteNear6x16AVXVNNI", memoryOf(hits[:(rows-1)*hitWords+(hitBytes+panels*width/8+7)/8])[hitBytes:],
				8*hitWords, memoryOf(limits[:rows]), memoryOf(starts), memoryOf(kinds[:rows]),
				memoryOf(x[:(rows-1)*xStride+groups]), xStride, memoryOf(y[:panels*groups*width]), groups, panels)
		},
		most: func(most, sums []int32, sumStride int, starts, kinds []int32, x []uint32, xStride int, y []uint32,
			groups, panels int) {
			e.call("ByteMost6x16AVXVNNI", memoryOf(most[:16*rows]),
				memoryOf(sums[:(rows-1)*sumStride+panels*width]), sumStride, memoryOf(starts), memoryOf(kinds[:rows]),
				memoryOf(x[:(rows-1)*xStride+groups]), xStride, memoryOf(y[:panels*groups*width]), groups, panels)
		},
	}
}

// bytes is the code of AVX-VNNI, with its products on the emulated CPU.
func (e *emulator) bytes() *byteSet {
	s := bytesAVXVNNI()
	s.tile, s.one = e.tile("ByteTile6x64AVXVNNI", s.queries), e.tile("ByteTile1x64AVXVNNI", 1)
	s.assign = assignTiles{wide: e.assign(), narrow: e.assign()}
	return s
}

// TestEmulatedAVXVNNI runs the code on an emulated CPU that has AVX-VNNI and no AVX-512. With GRAM_AVXVNNI, that code
// is among those of all other tests, too: make check-avxvnni runs these.
func TestEmulatedAVXVNNI(t *testing.T) {
	e := emulated()
	if e == nil {
		t.Skip("NOT RUN: GRAM_AVXVNNI names no emulator; see make check-avxvnni")
	}
	before := e.calls
	if !e.bytes().sound() {
		t.Error("the code of AVX-VNNI differs from the loop")
	}
	if e.calls-before != 18 {
		t.Errorf("%d calls, want 18", e.calls-before)
	}
	t.Logf("%d calls on the emulated CPU", e.calls)
}
