#!/bin/sh
# Builds the files of a release in dist/: static binaries for Linux on amd64 and arm64, a bill of materials and a Debian
# package for each, and their checksums. The same commit and Go version give the same bytes.
set -eu
cd "$(dirname "$0")/.."
. tools/say.sh

version=$(sh tools/version.sh)
rm -rf dist
mkdir dist
for arch in amd64 arm64; do
	file=dist/tocsin-$version-linux-$arch
	say "$file"
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -ldflags "-s -w -X tocsin/internal/cli.version=$version" -o "$file" ./cmd/tocsin
	(cd tools && go run ./sbom "../$file") >"$file.cdx.json"
	sh tools/deb.sh "$file" "$arch" "$version" "$file.deb"
done
cd dist
sha256sum tocsin-* >SHA256SUMS
cat SHA256SUMS
