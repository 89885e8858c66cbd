package kernels_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func TestKernelsOfParams(t *testing.T) {
	for params, want := range map[string]kernelops.Kernel{
		`{"kernel": "linear"}`:             {},
		`{"kernel": "rbf"}`:                {Kind: kernelops.RBF, Scale: 0.25},
		`{"kernel": "rbf", "gamma": 0.05}`: {Kind: kernelops.RBF, Scale: 0.05},
		`{"kernel": "polynomial"}`:         {Kind: kernelops.Polynomial, Scale: 1, Offset: 1, Degree: 2},
		`{"kernel": "polynomial", "scale": 0.5, "offset": 0, "degree": 3}`: {Kind: kernelops.Polynomial, Scale: 0.5,
			Degree: 3},
		`{"kernel": "sigmoid"}`:                           {Kind: kernelops.Sigmoid, Scale: 0.25},
		`{"kernel": "sigmoid", "scale": 2, "offset": -1}`: {Kind: kernelops.Sigmoid, Scale: 2, Offset: -1},
	} {
		var p kernels.Params
		if err := json.Unmarshal([]byte(params), &p); err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", params, err)
		}
		got, err := p.Of(4)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", params, got, err)
		}
		if back, err := read(arraysOf(got)); err != nil || back != got {
			t.Errorf("%s: read back %+v, %v", params, back, err)
		}
		if again, err := p.WithDefaults().Of(4); err != nil || again != got {
			t.Errorf("%s: with its defaults written in %+v, %v", params, again, err)
		}
	}
}

func arraysOf(k kernelops.Kernel) jobs.Arrays {
	return jobs.ArraysOf(jobs.FieldsFunc(func(f *jobs.Fields) { kernels.Fields(f, &k) }))
}

func read(a jobs.Arrays) (k kernelops.Kernel, err error) {
	_, err = jobs.Read(a, jobs.FieldsFunc(func(f *jobs.Fields) { kernels.Fields(f, &k) }))
	return k, err
}

func TestSenselessParamsAreRefused(t *testing.T) {
	for params, want := range map[string]string{
		`{}`:                                     "kernel is one of",
		`{"kernel": "RBF"}`:                      "kernel is one of",
		`{"kernel": "polynomal"}`:                "kernel is one of",
		`{"kernel": "linear", "gamma": 1}`:       "has no gamma; it takes no parameter",
		`{"kernel": "rbf", "scale": 1}`:          "has no scale",
		`{"kernel": "sigmoid", "degree": 2}`:     "has no degree; it takes scale, offset",
		`{"kernel": "rbf", "gamma": 0}`:          "kernel rbf: gamma is above 0 within the range of float32, not 0",
		`{"kernel": "rbf", "gamma": 1e-60}`:      "not 1e-60",
		`{"kernel": "polynomial", "degree": 0}`:  "degree is from 1 to 64",
		`{"kernel": "polynomial", "degree": 65}`: "degree is from 1 to 64",
		`{"kernel": "polynomial", "scale": 0}`:   "constant",
		`{"kernel": "sigmoid", "offset": 1e300}`: "kernel sigmoid: offset is within the range of float32, not 1e+300",
		`{"kernel": "sigmoid", "scale": -1e39}`:  "scale is within the range of float32, not -1e+39",
	} {
		var p kernels.Params
		if err := json.Unmarshal([]byte(params), &p); err != nil {
			t.Fatal(err)
		}
		err := p.Check()
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || !strings.Contains(fault.What, want) {
			t.Errorf("%s: %v", params, err)
		}
	}
}

func TestHostileKernelsAreRefused(t *testing.T) {
	whole := func() jobs.Arrays {
		return arraysOf(kernelops.Kernel{Kind: kernelops.RBF, Scale: 1})
	}
	for name, spoil := range map[string]func(a jobs.Arrays){
		"no kernel":      func(a jobs.Arrays) { delete(a, "kernel") },
		"another kernel": func(a jobs.Arrays) { a.PutText("kernel", "laplace") },
		"gamma 0":        func(a jobs.Arrays) { jobs.PutScalar(a, "kernel.scale", float32(0)) },
		"gamma NaN":      func(a jobs.Arrays) { jobs.PutScalar(a, "kernel.scale", float32(math.NaN())) },
		"a degree":       func(a jobs.Arrays) { jobs.PutScalar(a, "kernel.degree", int64(2)) },
		"an offset":      func(a jobs.Arrays) { jobs.PutScalar(a, "kernel.offset", float32(2)) },
		"huge degree": func(a jobs.Arrays) {
			a.PutText("kernel", "polynomial")
			jobs.PutScalar(a, "kernel.degree", int64(1)<<40)
		},
	} {
		a := whole()
		spoil(a)
		_, err := read(a)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}
