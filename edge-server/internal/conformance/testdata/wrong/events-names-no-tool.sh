#!/bin/sh
# breaks: tool.name
# with: events
# It calls a tool without a name.
read -r turn
printf '{"type":"tool_call","tool_call_id":"1"}\n{"type":"tool_result","tool_call_id":"1"}\n'
printf '{"type":"done","answer":"done"}\n'
