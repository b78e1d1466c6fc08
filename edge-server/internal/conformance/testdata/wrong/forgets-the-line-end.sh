#!/bin/sh
# breaks: line.newline
# Its last line has no end.
read -r turn
printf '{"type":"result","text":"done"}'
