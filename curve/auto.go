package curve

// choose is what Auto means, from public facts only. A given space is a
// statement that the curve is close to it (signals in sinc functions, cycles in
// a Fourier basis): project on it. Without one, denoise: on the taxi curves of
// internal/experiment its error is 30 to 43 % below that of segment at every
// budget, pure and concentrated, for it spends at most a sixteenth on choosing and
// takes noise away for free afterwards.
func (c Config) choose() Method {
	if c.Space != nil {
		return Project
	}
	return Denoise
}
