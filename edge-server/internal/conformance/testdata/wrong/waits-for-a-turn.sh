#!/bin/sh
# breaks: turn.none
# with: timeout=5s
# It waits for a turn after the end of stdin.
until read -r turn; do sleep 1; done
printf '{"type":"result","text":"done"}\n'
