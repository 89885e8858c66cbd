package attestation

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/protocol"
)

// PublicKey verifies signatures. The zero value verifies none.
type PublicKey struct {
	key *ecdsa.PublicKey
	pem []byte
	id  string
}

// PEM is the key as openssl and model_signing read it: SPKI, in PEM.
func (k PublicKey) PEM() []byte { return k.pem }

// ID is the SHA-256 of PEM in hexadecimal.
func (k PublicKey) ID() string { return k.id }

// PrivateKey signs. It prints as its public key's identifier.
type PrivateKey struct {
	key    *ecdsa.PrivateKey
	public PublicKey
}

// Public is the key that verifies what k signs.
func (k *PrivateKey) Public() PublicKey { return k.public }

// String names the key without what it keeps.
func (k *PrivateKey) String() string { return "private key of " + k.public.id }

// GoString is String: %#v must not print the key.
func (k *PrivateKey) GoString() string { return k.String() }

// ReadPrivateKey reads an unencrypted private key on P-256 from PEM: PKCS#8 ("PRIVATE KEY") or SEC 1 ("EC PRIVATE
// KEY"). Other keys are a *protocol.Fault that names what was found.
func ReadPrivateKey(text []byte) (*PrivateKey, error) {
	block, err := onlyBlock(text, "PRIVATE KEY", "EC PRIVATE KEY")
	if err != nil {
		return nil, keyFault("private", err)
	}
	var parsed any
	if block.Type == "EC PRIVATE KEY" {
		parsed, err = x509.ParseECPrivateKey(block.Bytes)
	} else {
		parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, keyFault("private", errBytes)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, keyFault("private", fmt.Errorf("it is %s", algorithm(parsed)))
	}
	return newPrivateKey(key)
}

// ReadPublicKey reads a public key on P-256 from PEM: SPKI ("PUBLIC KEY"). Other keys are a *protocol.Fault.
func ReadPublicKey(text []byte) (PublicKey, error) {
	block, err := onlyBlock(text, "PUBLIC KEY")
	if err != nil {
		return PublicKey{}, keyFault("public", err)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return PublicKey{}, keyFault("public", errBytes)
	}
	key, ok := parsed.(*ecdsa.PublicKey)
	if !ok {
		return PublicKey{}, keyFault("public", fmt.Errorf("it is %s", algorithm(parsed)))
	}
	public, err := newPublicKey(key)
	if err != nil {
		return PublicKey{}, keyFault("public", err)
	}
	return public, nil
}

// errBytes stands for what a parser says, which may quote the key.
var errBytes = errors.New("its bytes are not a key of a kind that is known here")

// algorithm names what a key that is not ECDSA is for.
func algorithm(key any) string {
	switch key.(type) {
	case *rsa.PrivateKey, *rsa.PublicKey:
		return "an RSA key"
	case ed25519.PrivateKey, ed25519.PublicKey:
		return "an Ed25519 key"
	case *ecdh.PrivateKey, *ecdh.PublicKey:
		return "a key of X25519, for key exchange"
	}
	return fmt.Sprintf("a %T", key)
}

// DeriveKey derives a key from a secret of at least 32 bytes, by HKDF with SHA-256 and a purpose: the same key for the
// same secret and purpose. Candidates that are not a scalar of the curve are skipped, so that all keys are equally
// likely.
func DeriveKey(secret []byte, purpose string) (*PrivateKey, error) {
	if len(secret) < sha256.Size {
		return nil, keyFault("private", fmt.Errorf("a secret of %d bytes is too short to derive it from", len(secret)))
	}
	for attempt := range byte(255) {
		raw, err := hkdf.Key(sha256.New, secret, nil, purpose+string([]byte{attempt}), sha256.Size)
		if err != nil {
			return nil, keyFault("private", err)
		}
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw); err == nil {
			return newPrivateKey(key)
		}
	}
	return nil, keyFault("private", errors.New("no candidate is on the curve"))
}

func newPrivateKey(key *ecdsa.PrivateKey) (*PrivateKey, error) {
	public, err := newPublicKey(&key.PublicKey)
	if err != nil {
		return nil, keyFault("private", err)
	}
	return &PrivateKey{key: key, public: public}, nil
}

func newPublicKey(key *ecdsa.PublicKey) (PublicKey, error) {
	if key.Curve != elliptic.P256() {
		return PublicKey{}, fmt.Errorf("it is on the curve %s", key.Curve.Params().Name)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return PublicKey{}, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	sum := sha256.Sum256(text)
	return PublicKey{key: key, pem: text, id: hex.EncodeToString(sum[:])}, nil
}

// onlyBlock returns the one block of a PEM text that has one of the types. openssl writes the curve's name in a block
// before a key of SEC 1.
func onlyBlock(text []byte, types ...string) (*pem.Block, error) {
	found := "no PEM block"
	var only *pem.Block
	for {
		block, rest := pem.Decode(text)
		switch {
		case block == nil && only == nil:
			return nil, fmt.Errorf("the file has %s, not %q", found, types[0])
		case block == nil:
			return only, nil
		case !slices.Contains(types, block.Type):
			found = fmt.Sprintf("a PEM block %.40q", block.Type)
		case only != nil:
			return nil, errors.New("the file has more than one; give each a file of its own")
		default:
			only = block
		}
		text = rest
	}
}

func keyFault(which string, err error) error {
	hint := "ECDSA keys on P-256 are taken, in PEM and not encrypted: " +
		"`openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem` makes one"
	if which == "public" {
		hint += ", `openssl pkey -in key.pem -pubout -out key.pub` writes its public key"
	}
	return protocol.InputFault(protocol.CodeKeyUnusable, "the %s key cannot be used", which).
		Because(err).WithHint(hint)
}

// sign returns the signature of a message: ASN.1 DER of r and s, deterministic by RFC 6979.
func (k *PrivateKey) sign(message []byte) ([]byte, error) {
	sum := sha256.Sum256(message)
	return k.key.Sign(nil, sum[:], crypto.SHA256)
}

func (k PublicKey) verifies(message, signature []byte) bool {
	sum := sha256.Sum256(message)
	return k.key != nil && ecdsa.VerifyASN1(k.key, sum[:], signature)
}
