#!/bin/sh
# breaks: fact.payload
# with: events
# The sub-agent of a fact is named beside its payload.
read -r turn
printf '{"type":"run.agent.task_started","payload":{"agent_id":"sub_1","name":"helper"}}\n'
printf '{"type":"run.agent.memory_op","agent_id":"sub_1","payload":{"op":"read"}}\n'
printf '{"type":"run.agent.sub_agent_status","payload":{"agent_id":"sub_1","status":"ok"}}\n'
printf '{"type":"done","answer":"done"}\n'
