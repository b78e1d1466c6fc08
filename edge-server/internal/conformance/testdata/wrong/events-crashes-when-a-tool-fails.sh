#!/bin/sh
# breaks: client.result
# with: events permission
# It takes for granted that the client can do it.
read -r turn
case $turn in
*'"client_tools":'*)
	printf '{"type":"tool_call","target":"client","tool_call_id":"1","tool_name":"open_url","tool_args":{}}\n'
	read -r result
	case $result in
	*'"status":"ok"'*) ;;
	*) exit 3 ;;
	esac
	;;
esac
printf '{"type":"done","answer":"done"}\n'
