#!/bin/sh
# breaks: permission.input
# with: events permission
# The input of its request is a text.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":"ls"}\n'
	read -r answer
	;;
esac
printf '{"type":"done","answer":"done"}\n'
