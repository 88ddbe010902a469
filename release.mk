# make release: static binaries for every platform, with version, man pages,
# completions and checksums, in dist/. VERSION defaults to what git says.
# The same sources, Go and VERSION make the same bytes (-trimpath, no build id).

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
DIST = dist
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: release cross
release:
	rm -rf $(DIST) && mkdir -p $(DIST)
	@set -e; for p in $(PLATFORMS); do \
		os=$${p%/*}; arch=$${p#*/}; ext=; if [ $$os = windows ]; then ext=.exe; fi; \
		out=$(DIST)/curveil-$(VERSION)-$$os-$$arch$$ext; echo $$out; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -trimpath -ldflags "-s -w -buildid= -X main.version=$(VERSION)" -o $$out ./cmd/curveil; \
	done
	go run -ldflags "-X main.version=$(VERSION)" ./cmd/curveil generate $(DIST)/share
	tar -C $(DIST)/share --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - man1 completions | gzip -n > $(DIST)/curveil-$(VERSION)-man-completions.tar.gz
	rm -rf $(DIST)/share
	cd $(DIST) && sha256sum curveil-* > SHA256SUMS && cat SHA256SUMS

# Everything, tests too, compiles where make test does not run.
cross:
	GOOS=windows GOARCH=amd64 go vet ./...
	GOOS=darwin GOARCH=arm64 go vet ./...

# The Beam module has its own dependencies: two minutes to build the first time.
.PHONY: beam
beam:
	cd beam && go vet ./... && go test ./...
