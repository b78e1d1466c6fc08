#!/bin/sh
# Starts a hub and an edge on this machine, in the foreground. Called by `make run`, which builds first.
# All state lives under one folder, so a second run continues where the first stopped.
set -eu

cd "$(dirname "$0")/.."
exec bin/yard up "$@"
