#!/bin/sh
# breaks: permission.eof
# with: permission timeout=5s
# It waits for an answer after the end of stdin.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'
	until read -r answer; do sleep 1; done
	;;
esac
printf '{"type":"result","text":"done"}\n'
