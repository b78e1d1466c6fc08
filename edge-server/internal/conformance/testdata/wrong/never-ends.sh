#!/bin/sh
# breaks: turn.ends
# with: timeout=5s
# It gives its reply and stays.
read -r turn
printf '{"type":"result","text":"done"}\n'
exec sleep 1000
