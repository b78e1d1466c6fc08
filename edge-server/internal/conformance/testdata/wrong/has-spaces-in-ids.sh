#!/bin/sh
# breaks: permission.request-id
# with: permission timeout=5s
# Its request cannot be named in an answer.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"the first","tool_name":"Bash","input":{"command":"ls"}}\n'
	read -r answer
	;;
esac
printf '{"type":"result","text":"done"}\n'
