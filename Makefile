# make test is what CI runs; it needs Go and git, nothing else.

STATICCHECK = go tool staticcheck

.PHONY: test vet fmt lint unit race bench ratio fuzz

test: vet fmt lint unit race

vet:
	go vet ./...

fmt:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "gofmt would change:"; echo "$$bad"; exit 1; fi

lint:
	$(STATICCHECK) ./...

unit:
	go test ./...

# Once more under the race detector: the tests in which goroutines share
# something. Statistics say nothing more there and take ten times as long.
RACE = Concurrent|Ahead|NextRows|Designs|BitIdentical|Merge|Shard|Invitation|Groups|Simultaneous|Coverage|Kill|Log|Add|Recycled|Live
race:
	go test -race -short -run '$(RACE)' ./dataset ./mean ./fit ./ledger ./release ./curve ./density ./regression ./collector
	go test -race -short ./noise

# A small version of every figure and table of the papers, with its claim; "make unit" runs it too.
.PHONY: reproduce
reproduce:
	go test -count=1 -v -run 'TestEveryFigureSmall' ./internal/reproduce

# All benchmarks, and the verbs against a bare read of the same files (docs/performance.md).
bench: ratio
	go test -run '^$$' -bench . -benchmem ./...

ratio:
	go build -o /tmp/curveil-ratio ./cmd/curveil
	go run ./internal/ratio -curveil /tmp/curveil-ratio

# A short run of every fuzz target; CI does not fuzz, it runs the seeds.
fuzz:
	@for p in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime 20s -fuzzminimizetime 1x $$p || exit 1; \
		done; done

include release.mk
