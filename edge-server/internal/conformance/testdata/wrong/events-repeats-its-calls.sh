#!/bin/sh
# breaks: client.id-unique
# with: events permission
# It calls twice by the same name.
read -r turn
case $turn in
*'"client_tools":'*)
	printf '{"type":"tool_call","target":"client","tool_call_id":"1","tool_name":"open_url","tool_args":{}}\n'
	read -r result
	printf '{"type":"tool_call","target":"client","tool_call_id":"1","tool_name":"open_url","tool_args":{}}\n'
	read -r result
	;;
esac
printf '{"type":"done","answer":"done"}\n'
