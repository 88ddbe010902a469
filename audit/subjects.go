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
	} {
		s, err := make()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
