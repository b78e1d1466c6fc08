#!/bin/sh
# breaks: permission.tool
# with: permission
# It does not say for which tool it asks.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","input":{}}\n'
	read -r answer
	;;
esac
printf '{"type":"result","text":"done"}\n'
