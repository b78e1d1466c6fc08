#!/bin/sh
# breaks: permission.id-unique
# with: permission
# It uses the id of a request again.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'
	read -r answer
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'
	;;
esac
printf '{"type":"result","text":"done"}\n'
