package nearest

import "testing"

func TestOf(t *testing.T) {
	names := []string{"bound", "bound-mu", "mu", "rho", "epsilon", "delta", "growth", "Gait"}
	for word, want := range map[string]string{
		"boud": "bound", "bounds": "bound", "bound-um": "bound-mu", "nu": "mu", "grwoth": "growth", "gait": "Gait", "epsilom": "epsilon",
		"zzz": "", "x": "", "": "", "weather": "",
	} {
		if got := Of(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Of("mu", []string{"mu"}); got != "" {
		t.Errorf("a name is like itself: %q", got)
	}
}
