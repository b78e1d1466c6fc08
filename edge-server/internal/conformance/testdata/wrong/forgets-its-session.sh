#!/bin/sh
# breaks: session.carried
# It names its session once and not again.
read -r turn
session=$(printf '%s\n' "$turn" | sed 's/.*"session_id":"\([^"]*\)".*/\1/')
printf '{"type":"partial","text":"x","session_id":"%s"}\n' "${session:-one}"
printf '{"type":"result","text":""}\n'
