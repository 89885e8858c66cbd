package terminal

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal. Ask for the stream that is written to.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the columns of a terminal, 80 where they are not known.
func Width(stream any) int {
	if f, ok := stream.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// UseColor decides on color for one stream: NO_COLOR wins, then the choice made
// ("auto" makes none), then FORCE_COLOR and CLICOLOR_FORCE, then whether that
// stream is a terminal that is not dumb.
func UseColor(choice string, getenv func(string) string, terminal bool) bool {
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case choice == "always":
		return true
	case choice == "never":
		return false
	case forced(getenv("FORCE_COLOR")), forced(getenv("CLICOLOR_FORCE")):
		return true
	}
	return terminal && getenv("TERM") != "dumb"
}

func forced(value string) bool { return value != "" && value != "0" && value != "false" }

// Palette colors words, or leaves them alone when it is off. Color is never the only sign.
type Palette struct{ On bool }

// Good marks what went well.
func (p Palette) Good(text string) string { return p.paint("32", text) }

// Bad marks what went wrong.
func (p Palette) Bad(text string) string { return p.paint("31", text) }

// Notice marks what a person should look at.
func (p Palette) Notice(text string) string { return p.paint("33", text) }

// Faint marks what may be skipped.
func (p Palette) Faint(text string) string { return p.paint("2", text) }

func (p Palette) paint(code, text string) string {
	if !p.On {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
