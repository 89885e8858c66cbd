package perceptron

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func load(t testing.TB, model jobs.Arrays) *Online {
	t.Helper()
	arrays, err := jobs.Decode(model.Encode())
	if err != nil {
		t.Fatal(err)
	}
	o, err := Load(arrays, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// One epoch, then the same records told one by one, are two epochs; and what is predicted on the way is what a
// model written at that time predicts.
func TestOnlineGoesOnAsTheJobWould(t *testing.T) {
	for _, form := range formNames {
		for name, records := range map[string][]jobstest.Record{"many": sectors(120, 4), "two": sectors(120, 2),
			"sparse": asSparse(sectors(120, 4)), "sparse two": asSparse(sectors(120, 2))} {
			params := `{"shuffle": false, "form": %q, "epochs": %d}`
			o := load(t, train(t, fmt.Sprintf(params, form, 1), records).Model)
			mistakes := int64(0)
			for i, r := range records {
				block := firstBlock(t, r)
				got, err := o.Predict(block)
				if err != nil {
					t.Fatal(err)
				}
				if i%40 == 7 {
					want := outcomes(t, o.Model(), records[i:i+1])[0]
					if got.Label != want.Label || got.Value != want.Value || !slices.Equal(got.Scores, want.Scores) {
						t.Fatalf("%s, %s, record %d: %+v, but the model says %+v", name, form, i, got, want)
					}
				}
				mistake, err := o.Update(r.Label)
				if err != nil {
					t.Fatal(err)
				}
				mistakes += int64(bit(mistake))
			}
			got, want := o.Model(), train(t, fmt.Sprintf(params, form, 2), records).Model
			for _, name := range []string{"weights", "steps", "sums", "vectors", "survived"} {
				if string(got[name].Data) != string(want[name].Data) {
					t.Errorf("%s, %s: array %q is not that of two epochs", name, form, name)
				}
			}
			if history, err := jobs.Get[int64](want, "training.mistakes"); err != nil || history[1] != mistakes {
				t.Errorf("%s, %s: %d mistakes, not %v (%v)", name, form, mistakes, history, err)
			}
			if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
				t.Errorf("%s, %s: other arrays", name, form)
			}
		}
	}
}

func firstBlock(t testing.TB, r jobstest.Record) *dataset.Block {
	t.Helper()
	block := &dataset.Block{IDs: make([]dataset.Identity, 1),
		Dense: dataset.Dense{Width: len(r.Dense), Values: r.Dense}}
	if r.Width > 0 {
		block.Sparse = dataset.Sparse{Width: r.Width, Indptr: []int{0, len(r.Indices)}, Indices: r.Indices,
			Values: r.Values}
	}
	return block
}

func TestOnlineText(t *testing.T) {
	texts := []jobstest.Record{{Label: "spam", Text: "win money"}, {Label: "ham", Text: "see you"}}
	model := train(t, `{"form": "plain"}`, texts).Model
	o := load(t, model)
	before := string(model.Encode())
	if got, err := o.PredictText("win, win!"); err != nil || got.Label != "spam" {
		t.Errorf("%+v, %v", got, err)
	}
	if mistake, err := o.Update("ham"); err != nil || !mistake {
		t.Errorf("mistake %t, %v", mistake, err)
	}
	if got, err := o.PredictText("win"); err != nil || got.Label != "ham" {
		t.Errorf("after the correction: %+v, %v", got, err)
	}
	_, err := o.Update("hum")
	wantFault(t, err, protocol.CodeBadRecord, `"ham"`)
	if _, err := o.Update("ham"); err != nil {
		t.Errorf("told the right label after a wrong one: %v", err)
	}
	if _, err := o.Update("ham"); err == nil {
		t.Error("told a label without a record")
	}
	_, err = o.PredictVector([]float32{1})
	wantFault(t, err, protocol.CodeBadRecord, "dense")
	if string(model.Encode()) != before {
		t.Error("the loaded arrays were written to")
	}
}

// A job that goes on with a model goes on as one job would, but for the order that it draws.
func TestWarmStart(t *testing.T) {
	records := sectors(200, 3)
	for _, params := range []string{`{"shuffle": false, "epochs": 2}`,
		`{"shuffle": false, "epochs": 2, "over": "mixed"}`, `{"shuffle": false, "form": "voted", "epochs": 1}`} {
		first := train(t, params, jobstest.Deal(records, 3)...)
		spec := specOf(params)
		spec.Spec.Model = "file:///model.safetensors"
		second, err := tryRun(t, spec, jobstest.Deal(records, 3), kernelops.Best(), jobstest.WithModel(first.Model))
		if err != nil {
			t.Fatal(err)
		}
		twice := map[string]string{`{"shuffle": false, "epochs": 2}`: `{"shuffle": false, "epochs": 4}`,
			`{"shuffle": false, "epochs": 2, "over": "mixed"}`: `{"shuffle": false, "epochs": 4, "over": "mixed"}`,
			`{"shuffle": false, "form": "voted", "epochs": 1}`: `{"shuffle": false, "form": "voted", "epochs": 2}`}
		got, want := modelOf(t, second), modelOf(t, train(t, twice[params], jobstest.Deal(records, 3)...))
		if !slices.Equal(got.weights, want.weights) || !slices.Equal(got.sums, want.sums) || got.steps != want.steps ||
			!slices.Equal(got.survived, want.survived) {
			t.Errorf("%s: other weights than in one job", params)
		}
		if !got.warm || got.bound != 0 || len(got.epochMistakes) != len(want.epochMistakes)/2 {
			t.Errorf("%s: history %+v", params, got.history)
		}
	}
}

func TestWarmStartRefused(t *testing.T) {
	model := train(t, `{}`, sectors(200, 3)).Model
	for params, part := range map[string]string{
		`{"form": "plain"}`:                   "averaged by rule argmax",
		`{"classes": "one_vs_rest"}`:          "one_vs_rest",
		`{"bias": false}`:                     "bias",
		`{"features": {"scale": "l2"}}`:       `features.scale is none in the model of spec.model, l2 in this job`,
		`{"class_weights": {"unheard": 2}}`:   "unheard",
		`{"costs": {"unheard": {"c1": 0.5}}}`: "unheard",
	} {
		spec := specOf(params)
		spec.Spec.Model = "file:///model.safetensors"
		_, err := tryRun(t, spec, jobstest.Deal(sectors(20, 3), 2), kernelops.Best(), jobstest.WithModel(model))
		wantFault(t, err, protocol.CodeSpecInvalid, part)
	}
	spec := specOf(`{}`)
	spec.Spec.Model = "file:///model.safetensors"
	_, err := tryRun(t, spec, jobstest.Deal(sectors(60, 5), 2), kernelops.Best(), jobstest.WithModel(model))
	wantFault(t, err, protocol.CodeBadRecord, "not one of the model's")
	_, err = tryRun(t, spec, jobstest.Deal(asSparse(sectors(20, 3)), 2), kernelops.Best(), jobstest.WithModel(model))
	wantFault(t, err, protocol.CodeBadRecord, "sparse")
}

// Texts must be read by the tokenizer and into the columns that the model was trained with.
func TestWarmStartOverTextsReadOtherwise(t *testing.T) {
	texts := []jobstest.Record{{Label: "spam", Text: "win money"}, {Label: "ham", Text: "see you"}}
	for _, c := range []struct{ model, job, part string }{
		{`{"features":{"text":{"ngram_max":2}}}`, `{}`,
			"features.text.ngram_max is 2 in the model of spec.model, 1 in this job"},
		{`{}`, `{"features":{"text":{"stop_words":["you"]}}}`,
			"features.text.stop_words is [] in the model of spec.model, [you] in this job"},
		{`{"features":{"hashing":{"bits":8}}}`, `{"features":{"hashing":{"bits":9}}}`,
			"features.hashing is of 8 bits, signed false in the model of spec.model, of 9 bits, signed false"},
		{`{"features":{"hashing":{"bits":8}}}`, `{}`, "none in this job"},
		{`{"features":{"hashing":{"bits":8}}}`, `{"features":{"hashing":{"bits":8}}}`, ""},
		{`{"features":{"text":{"lowercase":false}}}`, `{"features":{"text":{"lowercase":false,"min_df":1}}}`, ""},
	} {
		spec := specOf(c.job)
		spec.Spec.Model = "file:///model.safetensors"
		_, err := tryRun(t, spec, jobstest.Deal(texts, 1), kernelops.Best(),
			jobstest.WithModel(train(t, c.model, texts).Model))
		if c.part != "" {
			wantFault(t, err, protocol.CodeSpecInvalid, c.part)
		} else if err != nil {
			t.Errorf("%s after %s: %v", c.job, c.model, err)
		}
	}
}

func bit(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
