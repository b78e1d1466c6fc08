#!/bin/sh
# Installs what the tests use beyond Go, git and make: PostgreSQL, Redis, a C compiler (for the race detector), curl, a browser,
# and Node with npm.
# What is there stays as it is. The tests start servers of their own; none of those installed here needs to run.
set -eu

missing=

have() { command -v "$1" >/dev/null 2>&1; }

have_postgres() {
	have initdb && return 0
	for dir in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin; do
		[ -x "$dir/initdb" ] && return 0
	done
	return 1
}

have_browser() {
	for name in chromium chromium-browser google-chrome google-chrome-stable; do
		have "$name" && return 0
	done
	return 1
}

# The TypeScript SDK is for Node 20 and newer.
have_node() {
	have node && have npm && [ "$(node --version | sed 's/^v\([0-9]*\).*/\1/')" -ge 20 ]
}

have_postgres || missing="$missing postgresql"
have redis-server || missing="$missing redis-server"
have gcc || have cc || have clang || missing="$missing gcc libc6-dev"
have curl || missing="$missing curl"
have_browser || missing="$missing chromium"
have_node || missing="$missing nodejs npm"

if [ -z "$missing" ]; then
	echo "test-services: everything is here"
	exit 0
fi
if ! have apt-get; then
	echo "test-services: missing:$missing; there is no apt-get here, install them by hand" >&2
	exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then as_root=sudo; fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "test-services: installing$missing"
export DEBIAN_FRONTEND=noninteractive
# $missing is a list of words.
# shellcheck disable=SC2086
if ! { $as_root apt-get update -q && $as_root apt-get install -q -y --no-install-recommends $missing; } >"$log" 2>&1; then
	cat "$log" >&2
	echo "test-services: could not install$missing" >&2
	exit 1
fi
if ! have_node; then
	echo "test-services: node $(node --version) of this system is older than 20: install a newer one by hand" >&2
	exit 1
fi
