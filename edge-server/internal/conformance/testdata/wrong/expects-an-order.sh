#!/bin/sh
# breaks: permission.order
# with: permission
# It takes answers for those to its requests in their order.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'
	printf '{"type":"permission_request","request_id":"2","tool_name":"Bash","input":{"command":"ls"}}\n'
	read -r answer
	case $answer in *'"request_id":"1"'*) ;; *) exit 1 ;; esac
	read -r answer
	;;
esac
printf '{"type":"result","text":"done"}\n'
