package protocol

import "net/url"

// Input names a data set and how to read it. Which fields a format takes is in
// docs/formats.md; Validate refuses the others.
type Input struct {
	// URI is one object, or a prefix ending in "/" or holding a "*" in its last segment.
	URI    string `json:"uri"`
	Format string `json:"format"` // one of Formats
	// LabelsURI names the objects that hold the labels, where they are not in those of URI: as many
	// objects, paired in order, in the same bucket (for file://, the same folder).
	LabelsURI string `json:"labels_uri,omitempty"`
	// IDsURI names the objects that hold the ids of the records, as LabelsURI does their labels.
	IDsURI string `json:"ids_uri,omitempty"`
	// ID, Label, Text, Weight and Features are columns: a number counted from 1, or a name when Header is
	// true. Without Features and Text all other columns are features. In an npz they are arrays, in jsonl
	// paths; the label of a document or mail is FolderLabel, and the id of libsvm CommentID.
	//
	// ID names a record, whatever object and place it is read from.
	ID       Column   `json:"id,omitzero"`
	Label    Column   `json:"label,omitzero"`
	Text     Column   `json:"text,omitzero"`
	Weight   Column   `json:"weight,omitzero"`
	Features []Column `json:"features,omitempty"`
	// Categorical are columns of csv, or paths of jsonl, that hold categories, which are no features of themselves:
	// params.features.categories says which numbers they become.
	Categorical []Column `json:"categorical,omitempty"`
	Header      bool     `json:"header"`
	Delimiter   string   `json:"delimiter,omitempty"` // between the columns of csv: one ASCII character
	// quoted csv fields may hold line ends; each object is then one shard
	Multiline bool `json:"multiline,omitempty"`
	Width     int  `json:"width,omitempty"`      // columns of libsvm's vectors
	IndexBase *int `json:"index_base,omitempty"` // number of libsvm's first column: 0 or 1
	Dense     bool `json:"dense,omitempty"`      // read libsvm's vectors as dense ones, zeros filled in
	// header fields that are text of a mail, before its body; "*" is all
	MailHeaders []string    `json:"mail_headers,omitempty"`
	Compression string      `json:"compression"` // "auto" (by suffix), "none", "gzip"
	ShardBytes  ByteSize    `json:"shard_bytes"` // stored bytes per shard at most, one record excepted
	OnBadRecord OnBadRecord `json:"on_bad_record"`
	// Subtract is what is taken off the values of columns of the vector before they become float32, by the column's
	// number or name, as Offsets reads them.
	Subtract map[string]float64 `json:"subtract,omitempty"`
	// Missing are texts that stand for a missing number among the features: of csv what a field holds, "" included; of
	// jsonl a string or null, which a value that is not there counts as; "nan" is NaN of arrays, too. Without it
	// they are bad records.
	Missing []string `json:"missing,omitempty"`
	// Verify is "off" to read objects without comparing them with what the store says of their bytes.
	Verify string `json:"verify,omitempty"`
	Split  Split  `json:"split"`
	// MaxRecordBytes bounds one record; a longer one is a bad input.
	MaxRecordBytes ByteSize `json:"max_record_bytes"`
}

// Formats are the input formats that this release reads.
func Formats() []string {
	return []string{"tsv", "csv", "jsonl", "libsvm", "document", "mail", "idx", "npy", "npz", "fvecs", "bvecs", "ivecs"}
}

// VerifyOff is the value of Input.Verify that leaves objects unverified.
const VerifyOff = "off"

// FolderLabel is the label of an object that is one record: the first folder of its key below the input's prefix.
const FolderLabel = "folder"

// CommentID is the id of libsvm's records: what follows the "#" of a line.
const CommentID = "comment"

// MaxIDBytes bounds the id of a record.
const MaxIDBytes = 128

// MaxWidth bounds the columns of a vector.
const MaxWidth = 1 << 30

// formatFields says which fields a format takes beside those that all of them take.
type formatFields struct {
	id, label, text, weight, features, header bool
	group, categorical                        bool
	delimiter, multiline, libsvm              bool
	labelsURI, idsURI, mail, rows             bool
}

// fields returns what the format takes; false for one that is not known.
func (in Input) fields() (formatFields, bool) {
	switch in.Format {
	case "tsv":
		return formatFields{id: true, label: true, text: true, group: true, header: true}, true
	case "csv":
		return formatFields{id: true, label: true, text: true, weight: true, group: true, features: true, header: true,
			delimiter: true, multiline: true, categorical: true}, true
	case "jsonl":
		return formatFields{id: true, label: true, text: true, weight: true, group: true, features: true,
			categorical: true}, true
	case "document":
		return formatFields{label: true}, true
	case "mail":
		return formatFields{label: true, mail: true}, true
	case "libsvm":
		return formatFields{id: true, libsvm: true}, true
	case "idx", "npy":
		return formatFields{labelsURI: true, idsURI: true}, true
	case "npz":
		return formatFields{id: true, label: true, features: true}, true
	case "fvecs", "bvecs", "ivecs":
		return formatFields{labelsURI: true, idsURI: true, rows: true}, true
	}
	return formatFields{}, false
}

// WithDefaults returns the input with the defaults of its format written in.
func (in Input) WithDefaults() Input {
	setDefault(&in.Compression, "auto")
	setDefault(&in.ShardBytes, DefaultShardBytes)
	setDefault(&in.MaxRecordBytes, DefaultMaxRecordBytes)
	if in.Format == "csv" {
		setDefault(&in.Delimiter, ",")
	}
	if in.Format == "mail" && len(in.MailHeaders) == 0 {
		in.MailHeaders = []string{"from", "subject"}
	}
	return in
}

// HasIDs reports whether the input's records are named by ids.
func (in Input) HasIDs() bool { return !in.ID.IsZero() || in.IDsURI != "" }

// Columns are the columns that the input names, in the order id, label, text, weight, split.group, features,
// categorical.
func (in Input) Columns() []Column {
	var named []Column
	for _, c := range []Column{in.ID, in.Label, in.Text, in.Weight, in.Split.Group} {
		if !c.IsZero() {
			named = append(named, c)
		}
	}
	return append(append(named, in.Features...), in.Categorical...)
}

func hasCredentials(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && u.User != nil
}
