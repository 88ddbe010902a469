package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/mean"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func(string, []byte), error](&readFn{})
	register.DoFn4x1[context.Context, string, func(*[]byte) bool, func([]byte), error](&foldFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&rowsFn{})
	register.Combiner2[[]byte, []byte](&mergeFn{})
	register.Emitter1[[]byte]()
	register.Emitter2[string, []byte]()
	register.Iter1[[]byte]()
}

// Verbs.
const (
	Mean    = "mean"
	Density = "density"
)

// accumulator is what people are added to.
type accumulator interface{ MarshalBinary() ([]byte, error) }

// readFn reads a chunk into fragments by person.
type readFn struct {
	Verb   string
	Source []byte // JSON
	source Source
}

func (f *readFn) Setup() error { return json.Unmarshal(f.Source, &f.source) }

func (f *readFn) ProcessElement(ctx context.Context, chunk []byte, emit func(string, []byte)) error {
	var c Chunk
	if err := json.Unmarshal(chunk, &c); err != nil {
		return err
	}
	if f.Verb == Mean {
		return f.source.curves(ctx, c, emit)
	}
	return f.source.points(ctx, c, func(name string, x []float64) { emit(name, appendFloats(nil, x)) })
}

// foldFn adds whole people to a sum of the bundle's own. A bundle that fails leaves
// nothing behind: its sum is dropped with it and made anew at the retry.
type foldFn struct {
	Verb           string
	Source, Config []byte
	source         Source
	mean           *mean.Mean
	density        *density.Density
	points         counts
	added          bool
}

func (f *foldFn) Setup() error { return json.Unmarshal(f.Source, &f.source) }

func (f *foldFn) StartBundle(context.Context, func([]byte)) (err error) {
	f.added, f.points = false, counts{}
	f.mean, f.density, err = empty(f.Verb, f.Config)
	return err
}

func empty(verb string, config []byte) (*mean.Mean, *density.Density, error) {
	if verb == Mean {
		c, err := mean.DecodeConfig(config)
		if err != nil {
			return nil, nil, err
		}
		m, err := mean.New(c)
		return m, nil, err
	}
	c, err := density.DecodeConfig(config)
	if err != nil {
		return nil, nil, err
	}
	d, err := density.New(c)
	return nil, d, err
}

func (f *foldFn) ProcessElement(_ context.Context, name string, values func(*[]byte) bool, _ func([]byte)) error {
	if err := inject(name); err != nil {
		return err
	}
	var all [][]byte
	for b := []byte(nil); values(&b); b = nil {
		all = append(all, bytes.Clone(b))
	}
	f.added = true
	if f.Verb == Density {
		return f.addPoints(all)
	}
	fragments := make([]fragment, len(all))
	for i, b := range all {
		var err error
		if fragments[i], err = decodeFragment(b); err != nil {
			return err
		}
	}
	curves, err := f.source.person(fragments)
	if err != nil {
		return err
	}
	if f.mean.Add(curves...) != nil {
		return errRefused
	}
	return nil
}

var errRefused = errors.New("beam: a person's data are refused (a value that is not finite, a time outside the domain or off the common grid); run the core command on the person's file to see which; workers do not quote data")

func (f *foldFn) addPoints(all [][]byte) error {
	dim := len(f.source.Components)
	var points [][]float64
	for _, b := range all {
		for x := floats(b); len(x) >= dim; x = x[dim:] {
			points = append(points, x[:dim:dim])
		}
	}
	if f.source.Deduplicate {
		slices.SortFunc(points, slices.Compare)
		points = slices.CompactFunc(points, slices.Equal)
	}
	for _, x := range points {
		f.points.count(x, f.density.Config().Box)
	}
	if f.density.Add(points...) != nil {
		return errRefused
	}
	return nil
}

func (f *foldFn) FinishBundle(_ context.Context, emit func([]byte)) error {
	if !f.added {
		return nil
	}
	var acc accumulator = f.mean
	if f.Verb == Density {
		acc = f.density
	}
	b, err := acc.MarshalBinary()
	if err != nil {
		return errRefused
	}
	emit(f.points.before(b))
	return nil
}

// rowsFn adds the points of a chunk whose rows are one person each: no shuffle.
type rowsFn struct {
	Source, Config []byte
}

func (f *rowsFn) ProcessElement(ctx context.Context, chunk []byte, emit func([]byte)) error {
	var source Source
	var c Chunk
	if err := errors.Join(json.Unmarshal(f.Source, &source), json.Unmarshal(chunk, &c)); err != nil {
		return err
	}
	_, acc, err := empty(Density, f.Config)
	if err != nil {
		return err
	}
	refused, box := false, acc.Config().Box
	var points counts
	if err := source.points(ctx, c, func(_ string, x []float64) {
		points.count(x, box)
		refused = acc.Add(x) != nil || refused
	}); err != nil {
		return err
	}
	if refused {
		return errRefused
	}
	b, err := acc.MarshalBinary()
	if err == nil {
		emit(points.before(b))
	}
	return err
}

// mergeFn adds sums. Integer addition: neither order nor grouping can be seen.
type mergeFn struct{ Verb string }

func (f *mergeFn) CreateAccumulator() []byte { return nil }

func (f *mergeFn) AddInput(a, b []byte) ([]byte, error) { return f.MergeAccumulators(a, b) }

func (f *mergeFn) MergeAccumulators(a, b []byte) ([]byte, error) {
	switch {
	case len(a) == 0:
		return bytes.Clone(b), nil
	case len(b) == 0:
		return a, nil
	}
	merge := mean.MergePartials
	if f.Verb == Density {
		merge = density.MergePartials
	}
	points, a, err := cutCounts(a)
	if err != nil {
		return nil, err
	}
	more, b, err := cutCounts(b)
	if err != nil {
		return nil, err
	}
	sum, err := merge(a, b)
	return counts{points.outside + more.outside, points.of + more.of}.before(sum), err
}

// Sum is the transform: the chunks of a source to one sum, the text of MarshalBinary
// of the verb's accumulator with the configuration, behind 16 bytes that count a
// density's points. It is raw private data.
func Sum(s beam.Scope, verb string, source Source, config []byte, chunks []Chunk) (beam.PCollection, error) {
	src, err := json.Marshal(source)
	if err != nil {
		return beam.PCollection{}, err
	}
	if source.Deduplicate && verb == Density && source.Unit == "" {
		return beam.PCollection{}, fmt.Errorf("beam: without a unit column equal rows may be different people: name the column that tells people apart, or do not ask for deduplication")
	}
	list := make([]any, len(chunks))
	for i, c := range chunks {
		if list[i], err = json.Marshal(c); err != nil {
			return beam.PCollection{}, err
		}
	}
	s = s.Scope("curveil." + verb)
	in := beam.Reshuffle(s, beam.Create(s, list...))
	var sums beam.PCollection
	if verb == Density && source.Unit == "" {
		sums = beam.ParDo(s, &rowsFn{Source: src, Config: config}, in)
	} else {
		rows := beam.ParDo(s, &readFn{Verb: verb, Source: src}, in)
		sums = beam.ParDo(s, &foldFn{Verb: verb, Source: src, Config: config}, beam.GroupByKey(s, rows))
	}
	return beam.Combine(s, &mergeFn{Verb: verb}, sums), nil
}

// inject is where tests let a bundle fail.
var inject = func(string) error { return nil }
