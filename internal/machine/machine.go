// Package machine describes the machine that a benchmark ran on, and the program that ran.
package machine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// Machine is what a figure depends on besides the code. Fields that the operating
// system does not tell are empty.
type Machine struct {
	CPU     string   `json:"cpu"`   // as the CPU names itself
	Model   string   `json:"model"` // family, model, stepping: many names stand for several cores
	Flags   []string `json:"flags"` // of those that kernels and peers choose by
	Caches  []string `json:"caches"`
	Cores   int      `json:"cores"` // that may be used
	Memory  string   `json:"memory"`
	Pages   string   `json:"huge_pages,omitempty"` // when the kernel grants them
	System  string   `json:"system"`
	Go      string   `json:"go"`
	GOAMD64 string   `json:"goamd64,omitempty"`
	Commit  string   `json:"commit"` // with "-dirty" where files differ from it
}

// Describe is Here with the commit of the current folder's repository, which git names.
func Describe() Machine {
	m := Here()
	m.Commit = output("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
	return m
}

// Here asks the operating system.
func Here() Machine {
	info := cpuinfo()
	return Machine{
		CPU:     firstOf(info["model name"], runtime.GOARCH),
		Model:   model(info),
		Flags:   flags(firstOf(info["flags"], info["Features"])),
		Caches:  caches(),
		Cores:   runtime.NumCPU(),
		Memory:  memory(),
		Pages:   chosen(read("/sys/kernel/mm/transparent_hugepage", "enabled")),
		System:  system(),
		Go:      runtime.Version(),
		GOAMD64: setting("GOAMD64"),
	}
}

// Slug names the machine in file names: the CPU's name and model, and the cores.
func (m Machine) Slug() string {
	name := strings.NewReplacer("(r)", "", "(tm)", "", "processor", "", "cpu", "").Replace(strings.ToLower(m.CPU))
	name, _, _ = strings.Cut(name, "@") // the clock
	model := modelWords.ReplaceAllString(m.Model, "")
	parts := strings.FieldsFunc(name+" "+model, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(append(parts, fmt.Sprintf("%dc", m.Cores)), "-")
}

// modelWords are what a file name can do without.
var modelWords = regexp.MustCompile(`family|model|stepping \d+`)

// Rows are the description as names and values, for a table.
func (m Machine) Rows() [][2]string {
	rows := [][2]string{
		{"CPU", strings.TrimSuffix(m.CPU+" ("+m.Model+")", " ()")},
		{"flags", strings.Join(m.Flags, " ")},
		{"caches", strings.Join(m.Caches, ", ")},
		{"cores", fmt.Sprint(m.Cores)},
		{"memory", m.Memory},
		{"huge pages", m.Pages},
		{"system", m.System},
		{"Go", strings.TrimSuffix(m.Go+", GOAMD64="+m.GOAMD64, ", GOAMD64=")},
		{"commit", m.Commit},
	}
	return slices.DeleteFunc(rows, func(r [2]string) bool { return r[1] == "" })
}

// cpuinfo returns what Linux says of the first processor.
func cpuinfo() map[string]string {
	text, _ := os.ReadFile("/proc/cpuinfo") // missing elsewhere: the fields stay empty
	first, _, _ := strings.Cut(string(text), "\n\n")
	return fields(first)
}

// fields reads lines of "name : value".
func fields(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			found[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return found
}

func model(info map[string]string) string {
	if info["cpu family"] == "" {
		return ""
	}
	return fmt.Sprintf("family %s model %s stepping %s", info["cpu family"], info["model"], info["stepping"])
}

// telling matches the flags that kernels or peers choose by.
var telling = regexp.MustCompile(`^(sse4_2|avx.*|fma|f16c|bmi[12]|amx.*|asimd.*|sve.*)$`)

func flags(all string) []string {
	return slices.DeleteFunc(strings.Fields(all), func(f string) bool { return !telling.MatchString(f) })
}

// caches lists those of the first processor.
func caches() []string {
	var found []string
	folders, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*") // the pattern is well-formed
	for _, f := range folders {
		level, kind, size := read(f, "level"), read(f, "type"), read(f, "size")
		if level != "" && kind != "Instruction" {
			found = append(found, fmt.Sprintf("L%s %s", level, size))
		}
	}
	return found
}

func read(folder, name string) string {
	text, _ := os.ReadFile(filepath.Join(folder, name)) // absent: ""
	return strings.TrimSpace(string(text))
}

// chosen returns the word in brackets.
func chosen(setting string) string {
	_, after, _ := strings.Cut(setting, "[")
	word, _, _ := strings.Cut(after, "]")
	return word
}

func memory() string {
	text, _ := os.ReadFile("/proc/meminfo") // missing elsewhere
	var kibibytes float64
	if _, err := fmt.Sscan(fields(string(text))["MemTotal"], &kibibytes); err != nil {
		return ""
	}
	return fmt.Sprintf("%.0f GiB", kibibytes/(1<<20))
}

func system() string {
	return strings.TrimSpace(runtime.GOOS + "/" + runtime.GOARCH + " " + output("uname", "-sr"))
}

func setting(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}

// output returns what a command prints, "" if it fails.
func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// Load is how many tasks ran or waited to, on average over 1, 5 and 15 minutes.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}
