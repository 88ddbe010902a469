//go:build !unix

package main

import "testing"

func withUmask(_ *testing.T, _ string, do func()) { do() }
