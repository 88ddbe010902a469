package space

// AsTensor returns the space on a box of one variable that has the same functions in the same order, for a
// Fourier or cosine space of at least one frequency; ok is false for any other.
func AsTensor(s Space) (t *Tensor, ok bool) {
	kind, rank := "cosine", s.Dim()-1
	switch s.(type) {
	case *fourier:
		kind, rank = "fourier", (s.Dim()-1)/2
	case *cosine:
	default:
		return nil, false
	}
	t, err := newTensor(kind, []Interval{s.Domain()}, []int{rank}, Cube)
	return t, err == nil
}
