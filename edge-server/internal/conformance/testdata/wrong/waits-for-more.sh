#!/bin/sh
# breaks: turn.ends
# with: timeout=5s
# It takes the end of stdin for a pause.
read -r turn
while :; do read -r more || sleep 1; done
