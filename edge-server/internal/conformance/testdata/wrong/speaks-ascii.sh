#!/bin/sh
# breaks: turn.unicode
# It gives up on letters that it does not know.
read -r turn
case $turn in *漢*) exit 1 ;; esac
printf '{"type":"result","text":"done"}\n'
