#!/bin/sh
# breaks: compaction.pairs
# with: events
# A compaction has no end.
read -r turn
printf '{"type":"run.agent.compaction_begin","payload":{"reason":"manual","mode":"summarize"}}\n'
printf '{"type":"done","answer":"done"}\n'
