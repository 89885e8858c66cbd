package main

import (
	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/spf13/pflag"
)

// flags are those that every verb knows.
type flags struct {
	output string // "table" or "json", once the command line is parsed
	color  string
	quiet  bool
	cert   string // files of a worker's certificate and key
	key    string
	config clientconfig.Config
}

// connectionFlags are looked up in the configuration under the same names.
var connectionFlags = []string{"addr", "cacert", "token-file", "context", "output", "color"}

func (f *flags) add(set *pflag.FlagSet) {
	set.String("addr", "", "coordinators, `host:port`, several with commas")
	set.String("cacert", "", "`file` with the certificates to trust")
	set.String("token-file", "", "`file` with the token, mode 0600")
	set.String("context", "", "`name` of a cluster in the configuration")
	set.StringP("output", "o", "", "output `format`: table or json")
	set.String("color", "", "`when` to color: auto, always or never")
	set.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, no notes, no warnings")
}

// configure gathers the settings of this invocation.
func (f *flags) configure(set *pflag.FlagSet, getenv func(string) string, dir string) error {
	given := map[string]string{}
	for _, name := range connectionFlags {
		if flag := set.Lookup(name); flag != nil && flag.Changed {
			given[name] = flag.Value.String()
		}
	}
	f.color = given["color"] // for the error below, should there be one
	cfg, err := clientconfig.Load(clientconfig.Sources{Flags: given, Getenv: getenv, Dir: dir})
	if err != nil {
		return &exit.Failure{Code: exit.Usage, What: err.Error()}
	}
	f.config, f.output, f.color = cfg, cfg.Output.Text, cfg.Color.Text
	return nil
}
