package coordinator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/pki"
)

// Names of the files in the data directory that hold the first tokens, mode 0600.
const (
	AdminTokenFile  = "admin.token"
	WorkerTokenFile = "worker.token"
	CAFile          = "ca.pem" // in the folder pki
)

// bootTokens are the credentials a cluster begins with.
type bootTokens struct{ admin, worker gate.Token }

// loadTokens reads the tokens kept in dir, and makes those that are not there when told to.
func loadTokens(dir string, create bool) (bootTokens, error) {
	if dir == "" {
		return bootTokens{admin: gate.NewToken(), worker: gate.NewToken()}, nil
	}
	admin, err := loadToken(filepath.Join(dir, AdminTokenFile), create)
	if err != nil {
		return bootTokens{}, err
	}
	worker, err := loadToken(filepath.Join(dir, WorkerTokenFile), create)
	return bootTokens{admin: admin, worker: worker}, err
}

// loadToken returns no token when there is none and none is to be made.
func loadToken(file string, create bool) (gate.Token, error) {
	text, err := os.ReadFile(file)
	if err == nil {
		token, err := gate.ParseToken(string(text))
		if err != nil {
			return gate.Token{}, fmt.Errorf("%s holds no token (gram_ID_SECRET): put it back, or remove it to have "+
				"a new one made", file)
		}
		return token, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return gate.Token{}, fmt.Errorf("read token: %w", err)
	}
	if !create {
		return gate.Token{}, nil
	}
	token := gate.NewToken()
	if err := pki.WriteFile(file, []byte(token.Reveal()+"\n"), 0o600); err != nil {
		return gate.Token{}, fmt.Errorf("write token: %w", err)
	}
	return token, nil
}
