//go:build !race

package noise

const raceDetector = false
