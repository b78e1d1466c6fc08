#!/bin/sh
# breaks: line.length
# It puts more into one line than the edge keeps.
read -r turn
if [ ${#turn} -gt 100000 ]; then
	printf '{"type":"partial","text":"'
	head -c 11000000 /dev/zero | tr '\0' x
	printf '"}\n'
fi
printf '{"type":"result","text":"done"}\n'
