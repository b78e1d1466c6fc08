#!/bin/sh
# breaks: output.shown
# with: events
# A call returns something else than it has put out.
read -r turn
printf '{"type":"tool_call","tool_call_id":"1","tool_name":"bash","tool_args":{}}\n'
printf '{"type":"run.agent.tool_output","payload":{"tool_call_id":"1","delta":"a.go"}}\n'
printf '{"type":"tool_result","tool_call_id":"1","tool_name":"bash","tool_result":{"files":1}}\n'
printf '{"type":"done","answer":"done"}\n'
