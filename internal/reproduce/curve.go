// The experiments of [GEO] §5 and appendix C.3.

package reproduce

var curves = []Experiment{
	{Name: "curve-distances", Paper: GEO, Source: "§2.3, Figure 1", Title: "Distances of three trajectories", Reps: 2, run: curveDistances},
	{Name: "curve-shapes", Paper: GEO, Source: "Figures 2 and 3", Title: "Private circle, two-loop curve, ellipse and line", Reps: 500, run: curveShapes},
	{Name: "curve-reduce", Paper: GEO, Source: "Figures 4 and 5", Title: "Segment with and without removal of sub-intervals", Reps: 40, run: curveReduce},
	{Name: "curve-ecg-example", Paper: GEO, Source: "Figure 7", Title: "An electrocardiogram, private", Reps: 100, Dataset: "ecg", run: curveECGExample},
	{Name: "curve-select-example", Paper: GEO, Source: "Figure 9", Title: "A Gaussian mixture, private", Reps: 200, run: curveSelectExample},
	{Name: "curve-taxi-example", Paper: GEO, Source: "Figure 11", Title: "A taxi track, private", Reps: 100, Dataset: "taxi", run: curveTaxiExample},
	{Name: "curve-ecg-gp", Paper: GEO, Source: "Figures 6 and 17a", Title: "Project-and-privatize on electrocardiograms, GP", Reps: 8, PaperReps: 30, Dataset: "ecg", run: curveECG("gp")},
	{Name: "curve-ecg-cgp", Paper: GEO, Source: "Figures 13 and 17b", Title: "Project-and-privatize on electrocardiograms, CGP", Reps: 8, PaperReps: 30, Dataset: "ecg", run: curveECG("cgp")},
	{Name: "curve-select-gp", Paper: GEO, Source: "Figure 8", Title: "Select on Gaussian mixtures, GP", Reps: 6, PaperReps: 30, run: curveSelect("gp")},
	{Name: "curve-select-cgp", Paper: GEO, Source: "Figure 14", Title: "Select on Gaussian mixtures, CGP", Reps: 6, PaperReps: 30, run: curveSelect("cgp")},
	{Name: "curve-taxi-gp", Paper: GEO, Source: "Figures 10 and 18a", Title: "Segment on taxi tracks, GP", Reps: 3, PaperReps: 30, Dataset: "taxi", run: curveTaxi("gp")},
	{Name: "curve-taxi-cgp", Paper: GEO, Source: "Figures 15 and 18b", Title: "Segment on taxi tracks, CGP", Reps: 3, PaperReps: 30, Dataset: "taxi", run: curveTaxi("cgp")},
	{Name: "curve-segment-gp", Paper: GEO, Source: "Figure 12", Title: "Segment on Gaussian mixtures, degrees 1, 4, 8, 16, GP", Reps: 4, PaperReps: 30, run: curveSegment("gp")},
	{Name: "curve-segment-cgp", Paper: GEO, Source: "Figure 16", Title: "Segment on Gaussian mixtures, degrees 1, 4, 8, 16, CGP", Reps: 4, PaperReps: 30, run: curveSegment("cgp")},
}

// budgetsOf are the paper's budgets: ε, and ρ = ε²/80 or so for CGP as printed in its figures.
func budgetsOf(model string, gp, cgp []float64) ([]float64, string) {
	if model == "cgp" {
		return cgp, "ρ"
	}
	return gp, "ε"
}

var smallGP = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1}
