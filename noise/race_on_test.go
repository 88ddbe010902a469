//go:build race

package noise

const raceDetector = true
