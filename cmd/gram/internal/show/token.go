package show

import (
	"github.com/gram-compute/gram/protocol/gramv1"
)

// Token is a token as -o json prints it.
type Token struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Scope   string `json:"scope"`
	Created string `json:"created"`
	Expires string `json:"expires,omitempty"`
	Expired bool   `json:"expired"`
	Token   string `json:"token,omitempty"` // in full, of create without --out
}

// OfToken converts a token, without its secret.
func OfToken(t *gramv1.TokenInfo) Token {
	return Token{ID: t.GetId(), Name: t.GetName(), Scope: t.GetScope(), Created: Timestamp(t.GetCreatedUnixMs()),
		Expires: Timestamp(t.GetExpiresUnixMs()), Expired: t.GetExpired()}
}

// Alias is a name of a model as -o json prints it.
type Alias struct {
	Name     string `json:"name"`
	Job      string `json:"job"`
	Set      string `json:"set"`
	Previous string `json:"previous_job,omitempty"`
}

// OfAlias converts the name of a model.
func OfAlias(alias *gramv1.Alias) Alias {
	return Alias{Name: alias.GetName(), Job: alias.GetJobId(), Set: Timestamp(alias.GetSetUnixMs())}
}
