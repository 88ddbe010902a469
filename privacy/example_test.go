package privacy_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/curveil/curveil/privacy"
)

func ExampleGaussianMu() {
	mu, err := privacy.GaussianMu(privacy.Approx{Epsilon: 1, Delta: 1e-5})
	fmt.Printf("%.6f %v\n", float64(mu), err)
	fmt.Printf("noise for sensitivity 2: σ = %.4f\n", mu.Sigma(2))
	// Output:
	// 0.268051 <nil>
	// noise for sensitivity 2: σ = 7.4613
}

func ExampleExplain() {
	for _, row := range privacy.Explain(privacy.GDP(1), 1e-6, 1e-9) {
		fmt.Printf("%-18s %.4f  %s\n", row.Name, row.Value, row.Note)
	}
	// Output:
	// μ                  1.0000  stated
	// ρ                  0.5000  exact
	// ε at δ = 1e-06     4.8866  exact
	// ε at δ = 1e-09     6.1739  exact
}

func ExampleStatement() {
	data, _ := json.Marshal(privacy.Statement{Guarantee: privacy.GDP(0.5), Adjacency: privacy.ReplaceOne, Unit: "patient"})
	fmt.Println(string(data))
	// Output: {"definition":"gdp","mu":0.5,"adjacency":"replace-one","unit":"patient"}
}

func BenchmarkEpsilon(b *testing.B) {
	for b.Loop() {
		privacy.GDP(1).Epsilon(1e-6)
	}
}

func BenchmarkGaussianMu(b *testing.B) {
	for b.Loop() {
		if _, err := privacy.GaussianMu(privacy.Approx{Epsilon: 0.1, Delta: 1e-9}); err != nil {
			b.Fatal(err)
		}
	}
}
