// The text and JSON forms of spaces on a box.

package space

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// BoxTextForms lists the text forms for help texts.
const BoxTextForms = "cosine1d:64, fourier2d:8, cosine2d:8x4 (a rank for each axis), fourier3d:16:cross, cosine2d:12:total"

// String is kind, number of variables, rank and set, as in fourier2d:8x4:cross.
func (s *Tensor) String() string {
	var ranks []string
	for _, m := range s.rank {
		ranks = append(ranks, strconv.Itoa(m))
	}
	if len(slices.Compact(slices.Clone(ranks))) == 1 {
		ranks = ranks[:1]
	}
	text := fmt.Sprintf("%s%dd:%s", s.kind, len(s.box), strings.Join(ranks, "x"))
	if s.set != Cube {
		text += ":" + string(s.set)
	}
	return text
}

// ParseBox reads the text form of a space on the box: the basis with the number of variables, the rank of
// all axes or of each, and the set of frequencies unless it is the cube,
//
//	cosine1d:64   fourier2d:8   cosine2d:8x4   fourier3d:16:cross   cosine2d:12:total
func ParseBox(text string, box []Interval) (*Tensor, error) {
	name, rest, _ := strings.Cut(text, ":")
	kind := strings.TrimRight(name, "1234d")
	if kind != "fourier" && kind != "cosine" || name != fmt.Sprintf("%s%dd", kind, len(box)) {
		return nil, fmt.Errorf("space: unknown space %q on a box of %d variables: write one of %s", text, len(box), BoxTextForms)
	}
	numbers, set, hasSet := strings.Cut(rest, ":")
	if !hasSet {
		set = string(Cube)
	} else if set == "" {
		return nil, fmt.Errorf("space: %q: after the second colon comes the set, %s, %s or %s", text, Cube, Total, Cross)
	}
	var rank []int
	for _, f := range strings.Split(numbers, "x") {
		m, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("space: %q: %q is not a whole number: write the rank as in %s:8", text, f, name)
		}
		rank = append(rank, m)
	}
	return newTensor(kind, box, rank, Set(set))
}

type boxForm struct {
	Kind string       `json:"kind"`
	Rank []int        `json:"rank"`
	Set  Set          `json:"set"`
	Box  [][2]float64 `json:"box"`
}

// MarshalJSON is {"kind":"fourier","rank":[M₁,…],"set":"cube","box":[[a₁,b₁],…]}.
func (s *Tensor) MarshalJSON() ([]byte, error) {
	form := boxForm{Kind: s.kind, Rank: s.rank, Set: s.set}
	for _, d := range s.box {
		form.Box = append(form.Box, d.ends())
	}
	return json.Marshal(form)
}

// UnmarshalBox reads a space on a box from its JSON form, as strictly as Unmarshal.
func UnmarshalBox(data []byte) (*Tensor, error) {
	fields, err := objectFields(data)
	if err != nil {
		return nil, err
	}
	var form struct {
		kind string
		set  string
		rank []int
		box  [][]float64
	}
	if len(data) > 4096 {
		return nil, fmt.Errorf("space: json: a space on a box of %d bytes: it has at most %d variables", len(data), MaxVariables)
	}
	for name, to := range map[string]any{"kind": &form.kind, "set": &form.set, "rank": &form.rank, "box": &form.box} {
		if err := fields.take(name, to); err != nil {
			return nil, err
		}
	}
	if err := fields.rest("box"); err != nil {
		return nil, err
	}
	if form.kind != "fourier" && form.kind != "cosine" {
		return nil, fmt.Errorf("space: json: unknown kind %q on a box: this version reads fourier and cosine", form.kind)
	}
	if len(form.rank) != len(form.box) {
		return nil, fmt.Errorf("space: json: %d ranks for a box of %d variables: give one for each", len(form.rank), len(form.box))
	}
	var box []Interval
	for i, ends := range form.box {
		if len(ends) != 2 {
			return nil, fmt.Errorf("space: json: variable %d of box has %d numbers: it is [start, end]", i+1, len(ends))
		}
		box = append(box, Interval{ends[0], ends[1]})
	}
	if form.set == "" {
		return nil, fmt.Errorf("space: json: set is empty: it is %s, %s or %s", Cube, Total, Cross)
	}
	return newTensor(form.kind, box, form.rank, Set(form.set))
}
