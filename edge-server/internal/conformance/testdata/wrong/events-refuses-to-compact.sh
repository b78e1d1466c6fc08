#!/bin/sh
# breaks: compact.turn
# with: events controls=compact
# A turn without a message is none for it.
read -r turn
case $turn in *'"message":""'*'"compact":true'*)
	printf '{"type":"error","error_message":"There is no message."}\n'
	exit
esac
printf '{"type":"done","answer":"done"}\n'
