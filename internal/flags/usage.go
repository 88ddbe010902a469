// Package flags holds the words of a call that curveil and curveil-beam share: the
// flags, what they mean, and how their errors read. A flag is registered and read in
// one place, so that the two commands cannot drift apart.
package flags

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/internal/nearest"
)

// UsageError marks what is wrong with the call itself, rather than with the data or
// the machine.
type UsageError interface {
	error
	Usage()
}

type usage struct{ error }

func (usage) Usage() {}

func (u usage) Unwrap() error { return u.error }

// Usage marks an error as one of the call.
func Usage(err error) error { return usage{err} }

// Usagef makes an error of the call.
func Usagef(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

// packages are those whose names begin the errors of the library.
var packages = regexp.MustCompile(`(^|: |\n)(?:(?:audit|collector|curve|dataset|density|fit|lattice|ledger|mean|mechanism|noise|plot|privacy|regression|release|space): )+`)

// Spell words an error for who reads it behind a command: without the names of the packages
// that it passed through, and with the library's words for its options replaced by the
// flags that set them: "the id option" becomes "--id" where the command has such a flag. A
// flag that is not known is followed by the one that will have been meant.
func Spell(text string, f *pflag.FlagSet) string {
	text = packages.ReplaceAllString(text, "$1")
	var names []string
	f.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
		word := strings.ReplaceAll(flag.Name, "-", " ")
		for _, old := range []string{"the " + word + " option", "The " + word + " option"} {
			text = strings.ReplaceAll(text, old, "--"+flag.Name)
		}
	})
	if f.Lookup("id") != nil && f.Lookup("unit") != nil {
		text = strings.ReplaceAll(text, "the id or unit option", "--id or --unit")
	}
	if word, unknown := strings.CutPrefix(text, "unknown flag: --"); unknown {
		if near := nearest.Of(word, names); near != "" {
			text += ": is --" + near + " meant?"
		}
	}
	return text
}
