package protocol

import (
	"math"
	"slices"
	"strings"
)

// Validate checks an input that has its defaults in. field is what the spec calls it, such
// as "spec.input"; a fault of SPEC_INVALID names the field below it that does not fit.
func (in Input) Validate(field string) error {
	takes, known := in.fields()
	switch {
	case in.URI == "":
		return SpecFault("%s.uri is missing", field)
	case !known:
		return SpecFault("%s.format is %q; known formats: %s", field, in.Format, strings.Join(Formats(), ", "))
	case in.Compression != "auto" && in.Compression != "none" && in.Compression != "gzip":
		return SpecFault("%s.compression is %q; known: auto, none, gzip", field, in.Compression)
	case in.Verify != "" && in.Verify != VerifyOff:
		return SpecFault("%s.verify is %q; leave it out, or set it to %q", field, in.Verify, VerifyOff)
	case hasCredentials(in.URI) || hasCredentials(in.LabelsURI) || hasCredentials(in.IDsURI):
		return SpecFault("%s: a URI in a spec must not hold credentials; give them to the process", field)
	}
	if err := in.checkFields(field, takes); err != nil {
		return err
	}
	for _, check := range []func(string) error{in.checkColumns, in.checkOffsets, in.checkFormat, in.checkRanges} {
		if err := check(field); err != nil {
			return err
		}
	}
	return nil
}

// checkFields refuses what the format does not take.
func (in Input) checkFields(field string, takes formatFields) error {
	for _, f := range []struct {
		name         string
		given, taken bool
	}{
		{"id", !in.ID.IsZero(), takes.id},
		{"label", !in.Label.IsZero(), takes.label},
		{"text", !in.Text.IsZero(), takes.text},
		{"weight", !in.Weight.IsZero(), takes.weight},
		{"features", len(in.Features) > 0, takes.features},
		{"categorical", len(in.Categorical) > 0, takes.categorical},
		{"header", in.Header, takes.header},
		{"delimiter", in.Delimiter != "", takes.delimiter},
		{"multiline", in.Multiline, takes.multiline},
		{"width", in.Width != 0, takes.libsvm},
		{"index_base", in.IndexBase != nil, takes.libsvm},
		{"dense", in.Dense, takes.libsvm},
		{"mail_headers", len(in.MailHeaders) > 0, takes.mail},
		{"subtract", len(in.Subtract) > 0, takes.vectors()},
		{"missing", len(in.Missing) > 0, takes.vectors() && !takes.libsvm},
		{"split.group", !in.Split.Group.IsZero(), takes.group},
		{"labels_uri", in.LabelsURI != "", takes.labelsURI},
		{"ids_uri", in.IDsURI != "", takes.idsURI},
	} {
		if f.given && !f.taken {
			if f.name == "id" && takes.idsURI {
				return SpecFault("%s.id is not for the format %q, which holds no ids; name objects of ids in %s.ids_uri",
					field, in.Format, field)
			}
			return SpecFault("%s.%s is not for the format %q", field, f.name, in.Format)
		}
	}
	return nil
}

// checkColumns holds that columns are named as they can be found, and each used once.
func (in Input) checkColumns(field string) error {
	columns := in.Columns()
	seen := make(map[Column]bool, len(columns))
	for _, c := range columns {
		switch {
		case c.Number < 0 || c.Number > maxColumn || c.IsZero():
			return SpecFault("%s: a column is a number from 1 to %d or a name", field, maxColumn)
		case in.Format == "libsvm" && c != Column{Name: CommentID}:
			return SpecFault("%s.id of the format libsvm is %q, or none; not %v", field, CommentID, c)
		case (in.Format == "document" || in.Format == "mail") && c != Column{Name: FolderLabel}:
			return SpecFault("%s.label of the format %q is %q, or none; not %v", field, in.Format, FolderLabel, c)
		case in.Format == "jsonl" && c.Name == "":
			return SpecFault(
				"%s: the values of jsonl have a name such as label, or a path such as /a/b/0 (RFC 6901), not a number",
				field)
		case in.Format == "npz" && c.Name == "":
			return SpecFault("%s.id, %s.label and %s.features must name arrays of the npz, not number them", field,
				field, field)
		case (in.Format == "tsv" || in.Format == "csv") && c.Name != "" && !in.Header:
			return SpecFault(
				"%s names the column %v, but %s.header is false; set header: true or use numbers from 1", field, c,
				field)
		case seen[c]:
			return SpecFault(
				"%s uses the column %v twice, among id, label, text, weight, split.group, features and categorical",
				field, c)
		}
		seen[c] = true
	}
	return nil
}

// checkFormat holds what one format alone asks for.
func (in Input) checkFormat(field string) error {
	switch {
	case in.Format == "tsv" && in.Text.IsZero():
		return SpecFault("%s.text must name a column (a number from 1, or a name)", field)
	case in.Format == "jsonl" && in.Text.IsZero() && len(in.Features)+len(in.Categorical) == 0:
		return SpecFault("%s.text, %s.features or %s.categorical must name values of jsonl", field, field, field)
	case len(in.Categorical) > 0 && !in.Text.IsZero():
		return SpecFault("%s.text and %s.categorical: records are texts or vectors; leave one out", field, field)
	case len(in.Categorical) > maxCategorical:
		return SpecFault("%s.categorical lists %d columns; at most %d are accepted", field, len(in.Categorical),
			maxCategorical)
	case in.Format == "mail" && !validHeaders(in.MailHeaders):
		return SpecFault(
			"%s.mail_headers are at most %d names of header fields in lower case, each once, or \"*\" alone", field,
			maxMailHeaders)
	case in.Format == "csv" && !validDelimiter(in.Delimiter):
		return SpecFault(
			"%s.delimiter is %q; use one ASCII character that is in no number and not a quote, such as \",\", \";\" "+
				"or a tab", field, in.Delimiter)
	case in.Format == "libsvm" && (in.Width < 1 || in.Width > MaxWidth):
		return SpecFault("%s.width is %d; libsvm needs the number of columns, from 1 to %d", field, in.Width, MaxWidth)
	case in.Format == "libsvm" && (in.IndexBase == nil || *in.IndexBase < 0 || *in.IndexBase > 1):
		return SpecFault("%s.index_base must say whether libsvm's columns are counted from 0 or from 1", field)
	case in.Dense && 4*int64(in.Width) > int64(in.MaxRecordBytes):
		return SpecFault("%s.dense makes a vector of %d numbers of each record, more than %s.max_record_bytes (%v) holds",
			field, in.Width, field, in.MaxRecordBytes)
	case in.Format == "npz" && len(in.Features) != 1:
		return SpecFault("%s.features must name the one array of the npz that holds the vectors, such as [X]", field)
	}
	return nil
}

const maxMailHeaders = 100

// maxCategorical bounds the columns of categories, each of which is counted by itself.
const maxCategorical = 1024

// validHeaders holds names to RFC 5322, section 3.6.8; they have one spelling, so that a job has one hash.
func validHeaders(names []string) bool {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		bad := func(c rune) bool { return c <= ' ' || c >= 0x7f || c == ':' || c >= 'A' && c <= 'Z' }
		if name == "" || seen[name] || strings.ContainsFunc(name, bad) || name == "*" && len(names) > 1 {
			return false
		}
		seen[name] = true
	}
	return len(names) <= maxMailHeaders
}

// validDelimiter refuses what numbers, quotes and line ends are made of.
func validDelimiter(d string) bool {
	if len(d) != 1 || d[0] >= 0x7f || (d[0] < ' ' && d[0] != '\t') {
		return false
	}
	letter := d[0]|0x20 >= 'a' && d[0]|0x20 <= 'z'
	return !letter && !strings.ContainsAny(d, "\"+-.0123456789")
}

// Bounds of the texts that stand for missing numbers.
const (
	maxMissing      = 32
	maxMissingBytes = 64
)

func validMissing(texts []string) bool {
	for i, text := range texts {
		if len(text) > maxMissingBytes || strings.Trim(text, " \t") != text || slices.Contains(texts[:i], text) {
			return false
		}
	}
	return len(texts) <= maxMissing
}

func (in Input) checkSplit(field string) error {
	s := in.Split
	switch {
	case s.By != "" && s.By != ByLabel:
		return SpecFault("%s.split.by is %q; the records of each %q can be spread evenly", field, s.By, ByLabel).
			WithHint("To keep the records of a value of a column together, name the column in split.group.")
	case s.By != "" && !s.Group.IsZero():
		return SpecFault("%s.split has by and group; leave one out", field)
	case s.Deals() && s.Folds == 0 && s.Test == 0:
		return SpecFault("%s.split has by or group, but neither test nor folds", field)
	case s.By != "" && in.Label.IsZero() && in.LabelsURI == "" && in.Format != "libsvm":
		return SpecFault("%s.split.by is %q, and the records have no label: name one in %s.label", field, s.By, field)
	case s.Folds == 0:
		return nil
	case s.Folds < MinFolds || s.Folds > MaxFolds:
		return SpecFault("%s.split.folds is %d; 0 and %d to %d are accepted", field, s.Folds, MinFolds, MaxFolds)
	case s.Test > 0:
		return SpecFault("%s.split has test and folds: each gives records to judge the model on; leave one out", field)
	}
	return nil
}

func (in Input) checkRanges(field string) error {
	switch {
	case in.ShardBytes < 1:
		return SpecFault("%s.shard_bytes must be at least 1", field)
	case in.MaxRecordBytes < 1 || in.MaxRecordBytes > 1<<30:
		return SpecFault("%s.max_record_bytes must lie in 1B..1GiB", field)
	case !validMissing(in.Missing):
		return SpecFault("%s.missing is up to %d texts of up to %d bytes, each once, without spaces around them", field,
			maxMissing, maxMissingBytes).WithHint("Such as [\"\", NA, nan, null].")
	case in.OnBadRecord.SkipMax < 0:
		return SpecFault("%s.on_bad_record.skip_max must not be negative", field)
	case math.IsNaN(in.Split.Test) || in.Split.Test < 0 || in.Split.Test >= 1:
		return SpecFault("%s.split.test is %v; it is a share from 0 to less than 1", field, in.Split.Test)
	}
	return in.checkSplit(field)
}
