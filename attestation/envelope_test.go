package attestation

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"testing"
)

// The examples of the protocol's text, written out.
func TestPAEByHand(t *testing.T) {
	for _, c := range []struct{ payloadType, payload, want string }{
		{"http://example.com/HelloWorld", "hello world", "DSSEv1 29 http://example.com/HelloWorld 11 hello world"},
		{"", "", "DSSEv1 0  0 "},
		{"type", "a b\n", "DSSEv1 4 type 4 a b\n"},
		{"é", "ü", "DSSEv1 2 é 2 ü"}, // lengths are in bytes
	} {
		if got := string(PAE(c.payloadType, []byte(c.payload))); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func number(t *testing.T, text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatal(text)
	}
	return n
}

// The test vector of DSSE's protocol.md: its key, its message, its signature (r and s, 32 bytes each).
func TestVectorOfTheSpecification(t *testing.T) {
	point := []byte{4} // an uncompressed point follows
	for _, coordinate := range []string{"46950820868899156662930047687818585632848591499744589407958293238635476079160",
		"5640078356564379163099075877009565129882514886557779369047442380624545832820"} {
		point = append(point, number(t, coordinate).FillBytes(make([]byte, 32))...)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(
		"A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==")
	if err != nil || len(raw) != 64 {
		t.Fatal(len(raw), err)
	}
	sum := sha256.Sum256(PAE("http://example.com/HelloWorld", []byte("hello world")))
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])) {
		t.Error("the signature of the specification is not over this encoding")
	}
}
