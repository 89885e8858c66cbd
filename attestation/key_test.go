package attestation_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/protocol"
)

func pemOf(kind string, der []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func pkcs8(key any) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pemOf("PRIVATE KEY", der, err)
}

func spki(key any) []byte {
	der, err := x509.MarshalPKIXPublicKey(key)
	return pemOf("PUBLIC KEY", der, err)
}

func TestKeysAreRead(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(key)
	// openssl ecparam -genkey writes the curve's name first
	parameters := pemOf("EC PARAMETERS", []byte{6, 8, 42, 134, 72, 206, 61, 3, 1, 7}, nil)
	for name, text := range map[string][]byte{
		"PKCS#8": pkcs8(key), "SEC 1": append(parameters, pemOf("EC PRIVATE KEY", sec1, err)...),
	} {
		private, err := attestation.ReadPrivateKey(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		public, err := attestation.ReadPublicKey(spki(key.Public()))
		if err != nil || public.ID() != private.Public().ID() || !bytes.Equal(public.PEM(), spki(key.Public())) {
			t.Errorf("%s: %v, %v, %v", name, public.ID(), private.Public().ID(), err)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(verb, private); !strings.Contains(got, public.ID()) || len(got) > 100 {
				t.Errorf("%s prints %s", verb, got)
			}
		}
	}
}

// Other keys, certificates, encrypted keys and rubbish are typed errors that do not quote what was read.
func TestKeysOfOtherKinds(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := "c2VjcmV0c2VjcmV0"
	for name, text := range map[string][]byte{
		"P-384": pkcs8(p384), "public P-384": spki(p384.Public()), "Ed25519": pkcs8(ed), "RSA": pkcs8(rsaKey),
		"public Ed25519": spki(ed.Public()), "public RSA": spki(rsaKey.Public()), "nothing": nil,
		"a certificate":   pemOf("CERTIFICATE", []byte{1}, nil),
		"encrypted":       pemOf("ENCRYPTED PRIVATE KEY", []byte{1}, nil),
		"no DER":          []byte("-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----\n"),
		"no DER in SEC 1": []byte("-----BEGIN EC PRIVATE KEY-----\n" + secret + "\n-----END EC PRIVATE KEY-----\n"),
		"no public DER":   []byte("-----BEGIN PUBLIC KEY-----\n" + secret + "\n-----END PUBLIC KEY-----\n"),
		"text":            []byte("secretsecret"),
		"two keys":        append(pkcs8(p256), pkcs8(p256)...),
		"two public keys": append(spki(p256.Public()), spki(p256.Public())...),
	} {
		_, private := attestation.ReadPrivateKey(text)
		_, public := attestation.ReadPublicKey(text)
		for _, err := range []error{private, public} {
			fault, ok := errors.AsType[*protocol.Fault](err)
			if !ok || fault.Code != protocol.CodeKeyUnusable || strings.Contains(err.Error(), "secretsecret") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := attestation.ReadPrivateKey(pkcs8(ed)); !strings.Contains(err.Error(), "it is an Ed25519 key") {
		t.Errorf("%v", err)
	}
	if _, err := attestation.ReadPublicKey(spki(rsaKey.Public())); !strings.Contains(err.Error(), "it is an RSA key") {
		t.Errorf("%v", err)
	}
	if _, err := attestation.ReadPrivateKey(spki(p256.Public())); err == nil {
		t.Error("a public key was read as a private one")
	}
	if _, err := attestation.ReadPublicKey(pkcs8(p256)); err == nil {
		t.Error("a private key was read as a public one")
	}
}

// A key of another curve is called what it was given as, and the advice says which keys are taken.
func TestAdviceOnKeys(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, private := attestation.ReadPrivateKey(pkcs8(p384))
	_, public := attestation.ReadPublicKey(spki(p384.Public()))
	for which, err := range map[string]error{"private": private, "public": public} {
		fault, ok := errors.AsType[*protocol.Fault](err)
		if !ok || fault.What != "the "+which+" key cannot be used" || fault.Err.Error() != "it is on the curve P-384" ||
			!strings.Contains(fault.Hint, "ECDSA keys on P-256 are taken") ||
			strings.Contains(fault.Hint, "-pubout") != (which == "public") {
			t.Errorf("%s: %v", which, err)
		}
	}
}

func TestDerivedKeys(t *testing.T) {
	secret := bytes.Repeat([]byte{1}, 32)
	id := func(secret []byte, purpose string) string {
		key, err := attestation.DeriveKey(secret, purpose)
		if err != nil {
			t.Fatal(err)
		}
		return key.Public().ID()
	}
	a := id(secret, "a")
	if a != id(secret, "a") || a == id(secret, "b") || a == id(bytes.Repeat([]byte{2}, 32), "a") {
		t.Error("a derived key does not follow from its secret and purpose alone")
	}
	if _, err := attestation.DeriveKey(secret[:31], "a"); err == nil {
		t.Error("a short secret was taken")
	}
}

func FuzzReadKeys(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pkcs8(key))
	f.Add(spki(key.Public()))
	f.Fuzz(func(t *testing.T, text []byte) {
		if public, err := attestation.ReadPublicKey(text); err == nil {
			if again, err := attestation.ReadPublicKey(public.PEM()); err != nil || again.ID() != public.ID() {
				t.Errorf("%q: read again: %v", text, err)
			}
		}
		if private, err := attestation.ReadPrivateKey(text); err == nil && private.Public().ID() == "" {
			t.Errorf("%q: a key without an identifier", text)
		}
	})
}
