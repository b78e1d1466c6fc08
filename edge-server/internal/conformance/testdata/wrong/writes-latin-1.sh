#!/bin/sh
# breaks: line.utf8
# It writes a letter in an old encoding.
read -r turn
printf '{"type":"partial","text":"caf\351"}\n'
printf '{"type":"result","text":"done"}\n'
