#!/bin/sh
# breaks: session.stable
# with: events
# It changes its session within a turn.
read -r turn
session=$(printf '%s\n' "$turn" | sed 's/.*"session_id":"\([^"]*\)".*/\1/')
printf '{"type":"session_init","session_id":"%s"}\n{"type":"session_init","session_id":"two"}\n' "${session:-one}"
printf '{"type":"done","answer":"done"}\n'
