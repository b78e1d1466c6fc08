#!/bin/sh
# breaks: permission.request-id
# with: events permission timeout=5s
# Its prompt cannot be named in an answer.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"prompt","request_id":"the first","kind":"question","inner":{"question":"Which branch?"}}\n'
	read -r answer
	;;
esac
printf '{"type":"done","answer":"done"}\n'
