#!/bin/sh
# breaks: agent.known
# with: events
# A sub-agent says something after it has ended.
read -r turn
printf '{"type":"run.agent.task_started","payload":{"agent_id":"sub_1","name":"helper"}}\n'
printf '{"type":"run.agent.sub_agent_status","payload":{"agent_id":"sub_1","status":"ok"}}\n'
printf '{"type":"delta","agent_id":"sub_1","content":"hello"}\n'
printf '{"type":"done","answer":"done"}\n'
