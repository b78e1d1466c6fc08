#!/bin/sh
# breaks: permission.deny
# with: events permission
# It gives up when it may not, without a word.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'
	read -r answer
	case $answer in *'"deny"'*) exit 1 ;; esac
	;;
esac
printf '{"type":"done","answer":"done"}\n'
