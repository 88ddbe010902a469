package audit

import "github.com/curveil/curveil/privacy"

// Subjects are all mechanisms that can be audited, at the budget μ, or ε for
// those of pure DP.
func Subjects(mu privacy.GDP, epsilon privacy.Pure) ([]Subject, error) {
	var out []Subject
	for _, make := range []func() (Subject, error){
		func() (Subject, error) { return MeanFTP(mu) },
		func() (Subject, error) { return MeanPTF(mu) },
		func() (Subject, error) { return MeanPure(epsilon) },
		func() (Subject, error) { return MeanBound(mu) },
		func() (Subject, error) { return Density(mu) },
		func() (Subject, error) { return Layered(mu) },
		func() (Subject, error) { return Family(mu) },
		func() (Subject, error) { return Curve(mu) },
		func() (Subject, error) { return Curve(epsilon) },
		func() (Subject, error) {
			return RegressionReport(privacy.Approx{Epsilon: mu.Epsilon(1e-6), Delta: 1e-6})
		},
	} {
		s, err := make()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
