#!/bin/sh
# Makes the committed *.gen.go files, and the generated part of the TypeScript SDK, from api/openapi.yaml, shared/card and shared/omni. With --check it changes nothing
# and fails, with a diff, if a committed file is not what they say.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=$root
check=false
if [ "${1:-}" = "--check" ]; then
	check=true
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
elif [ $# -gt 0 ]; then
	echo "usage: $0 [--check]" >&2
	exit 2
fi

oapi_codegen() { # package directory below the root
	mkdir -p "$out/$1"
	(cd "$root/scripts/tools" && GOWORK=off GOFLAGS=-mod=readonly go tool oapi-codegen \
		-config "$root/$1/oapi-codegen.yaml" -o "$out/$1/api.gen.go" "$root/api/openapi.yaml")
}

stale=0
for package in hub-server/internal/httpapi hub-server/client; do
	oapi_codegen "$package"
	if $check && ! diff -u "$root/$package/api.gen.go" "$out/$package/api.gen.go"; then
		stale=1
	fi
done
typescript=api/ts/src
(cd "$root" && go run ./deploy/e2e/cmd/tsgen "$out/$typescript")
for file in hubEvents.ts types.gen.ts api.gen.ts cards.gen.ts omni.gen.ts; do
	if $check && ! diff -u "$root/$typescript/$file" "$out/$typescript/$file"; then
		stale=1
	fi
done
if [ $stale -ne 0 ]; then
	echo "generated code is stale: run scripts/generate.sh and commit the result" >&2
	exit 1
fi
