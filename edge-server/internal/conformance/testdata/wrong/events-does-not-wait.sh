#!/bin/sh
# breaks: permission.waits
# with: events permission
# It asks and does not wait.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"prompt","request_id":"1","kind":"plan_review","inner":{"plan_id":"p","steps":[{"id":"s"}]}}\n'
	;;
esac
printf '{"type":"done","answer":"done"}\n'
