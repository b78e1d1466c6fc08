#!/bin/sh
# breaks: call.written
# with: events
# The arguments of a call are other ones than those that were shown while they were written.
read -r turn
printf '{"type":"run.agent.tool_input","payload":{"tool_call_id":"1","tool_name":"bash","partial_json":"{\\"command\\":\\"ls\\"}"}}\n'
printf '{"type":"tool_call","tool_call_id":"1","tool_name":"bash","tool_args":{"command":"rm"}}\n'
printf '{"type":"tool_result","tool_call_id":"1","tool_name":"bash","tool_result":"gone"}\n'
printf '{"type":"done","answer":"done"}\n'
