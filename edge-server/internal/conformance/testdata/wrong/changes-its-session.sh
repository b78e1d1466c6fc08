#!/bin/sh
# breaks: session.stable
# It changes its session within a turn.
read -r turn
session=$(printf '%s\n' "$turn" | sed 's/.*"session_id":"\([^"]*\)".*/\1/')
printf '{"type":"partial","text":"x","session_id":"%s"}\n' "${session:-one}"
printf '{"type":"result","text":"","session_id":"two"}\n'
