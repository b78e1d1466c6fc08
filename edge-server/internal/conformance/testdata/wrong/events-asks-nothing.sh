#!/bin/sh
# breaks: prompt.fits
# with: events permission
# Its question has no text.
read -r turn
case $turn in
*'"permission":true'*)
	printf '{"type":"prompt","request_id":"1","kind":"question","inner":{}}\n'
	read -r answer
	;;
esac
printf '{"type":"done","answer":"done"}\n'
