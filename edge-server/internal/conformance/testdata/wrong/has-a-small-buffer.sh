#!/bin/sh
# breaks: turn.large
# It gives up on long messages, without a word.
read -r turn
[ ${#turn} -lt 100000 ] || exit 1
printf '{"type":"result","text":"done"}\n'
