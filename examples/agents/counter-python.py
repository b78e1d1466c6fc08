"""A bridge agent in Python: it remembers how often it was asked, by giving its session a name."""
import json, pathlib, sys, uuid
turn = json.loads(sys.stdin.readline())
session = turn["session_id"] or uuid.uuid4().hex  # its own to choose, because it can find it again
memory = pathlib.Path(f"{session}.count")  # in the workspace, which stays
count = int(memory.read_text()) + 1 if memory.exists() else 1
memory.write_text(str(count))
def say(**event): print(json.dumps({"session_id": session, **event}), flush=True)
say(type="partial", role="thinking", text="I look up how often you asked.")
say(type="partial", text=f"Turn {count}: {turn['message']}")
say(type="result", text="", usage={"output_tokens": len(turn["message"].split())})
