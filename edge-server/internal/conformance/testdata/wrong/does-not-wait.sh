#!/bin/sh
# breaks: permission.waits
# with: permission
# It asks and does not wait.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'
	;;
esac
printf '{"type":"result","text":"done"}\n'
