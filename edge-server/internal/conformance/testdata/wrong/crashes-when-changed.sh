#!/bin/sh
# breaks: permission.updated-input
# with: permission
# It gives up when its input was changed.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'
	read -r answer
	case $answer in *'"updated_input"'*) exit 1 ;; esac
	;;
esac
printf '{"type":"result","text":"done"}\n'
