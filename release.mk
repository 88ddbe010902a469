# make release: for every platform an archive in dist/ with the static binary, its
# man pages, completions, licence and README, and the checksums of all. VERSION
# defaults to what git says. The same commit, Go and VERSION make the same bytes
# (-trimpath, no build id, fixed times and owners). Needs GNU tar.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
DIST = dist
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
STAMP = -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$(VERSION)"

.PHONY: release cross
release:
	rm -rf $(DIST) && mkdir -p $(DIST)/share
	go run $(STAMP) ./cmd/curveil generate $(DIST)/share
	cp LICENSE README.md $(DIST)/share
	@set -e; for p in $(PLATFORMS); do \
		os=$${p%/*}; arch=$${p#*/}; exe=curveil; if [ $$os = windows ]; then exe=curveil.exe; fi; \
		name=curveil-$(VERSION)-$$os-$$arch; echo $(DIST)/$$name.tar.gz; \
		cp -r $(DIST)/share $(DIST)/$$name; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build $(STAMP) -o $(DIST)/$$name/$$exe ./cmd/curveil; \
		tar -C $(DIST) --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -cf - $$name | gzip -n > $(DIST)/$$name.tar.gz; \
		rm -r $(DIST)/$$name; \
	done
	rm -r $(DIST)/share
	cd $(DIST) && sha256sum curveil-*.tar.gz > SHA256SUMS && cat SHA256SUMS

# Everything, tests too, compiles where make test does not run.
cross:
	GOOS=windows GOARCH=amd64 go vet ./...
	GOOS=darwin GOARCH=arm64 go vet ./...

# The Beam module has its own dependencies: two minutes to build the first time.
.PHONY: beam
beam:
	cd beam && go vet ./... && go test ./...
