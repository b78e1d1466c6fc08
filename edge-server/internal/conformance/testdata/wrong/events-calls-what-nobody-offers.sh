#!/bin/sh
# breaks: client.offered
# with: events permission
# It calls a tool that no client offers.
read -r turn
printf '{"type":"tool_call","target":"client","tool_call_id":"1","tool_name":"launch","tool_args":{}}\n'
printf '{"type":"done","answer":"done"}\n'
