#!/bin/sh
# breaks: turn.unknown-keys
# It refuses a turn with a key that it does not know.
read -r turn
case $turn in *'"later"'*) exit 1 ;; esac
printf '{"type":"result","text":"done"}\n'
