#!/bin/sh
# breaks: tool.pairs
# with: events
# A sub-agent calls a tool, and its agent says what came out.
read -r turn
printf '{"type":"run.agent.task_started","payload":{"agent_id":"sub_1","name":"helper"}}\n'
printf '{"type":"tool_call","agent_id":"sub_1","tool_call_id":"1","tool_name":"grep"}\n'
printf '{"type":"tool_result","tool_call_id":"1","tool_name":"grep","tool_result":"x"}\n'
printf '{"type":"run.agent.sub_agent_status","payload":{"agent_id":"sub_1","status":"ok"}}\n'
printf '{"type":"done","answer":"done"}\n'
