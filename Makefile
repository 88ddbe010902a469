# make test is what CI runs; it needs Go and git, nothing else.

STATICCHECK = go tool staticcheck

.PHONY: test vet fmt lint unit race bench fuzz

test: vet fmt lint unit race

vet:
	go vet ./...

fmt:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "gofmt would change:"; echo "$$bad"; exit 1; fi

lint:
	$(STATICCHECK) ./...

unit:
	go test ./...

# The packages that run goroutines of their own, once more under the race detector.
race:
	go test -race -short ./mean ./fit ./noise ./ledger ./release

bench:
	go test -run '^$$' -bench . -benchmem ./...

# A short run of every fuzz target; CI does not fuzz, it runs the seeds.
fuzz:
	@for p in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime 20s $$p || exit 1; \
		done; done

include release.mk
