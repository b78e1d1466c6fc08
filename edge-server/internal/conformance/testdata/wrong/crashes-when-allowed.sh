#!/bin/sh
# breaks: permission.allow
# with: permission
# It gives up when it may.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'
	read -r answer
	case $answer in *'"allow"}'*) exit 1 ;; esac
	;;
esac
printf '{"type":"result","text":"done"}\n'
