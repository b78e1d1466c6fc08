"""A bridge agent with switchyard.py: it asks before it writes and before it deletes, both at once, and does what it may."""
import pathlib

import switchyard

turn = switchyard.read_turn()
turn.thinking("Two things to do; I ask for both.")
note = {"path": "note.txt", "text": turn.message}
write, delete = turn.request_permissions([("Write", note, "Keeps the message as a note."), ("Delete", {"path": "old-note.txt"})])
if write:
    pathlib.Path(write.input["path"]).write_text(write.input["text"], encoding="utf-8")
turn.partial(f"Wrote {write.input['path']}. " if write else f"Wrote nothing. {write.message} ")
if delete:
    pathlib.Path(delete.input["path"]).unlink(missing_ok=True)
turn.partial(f"Deleted {delete.input['path']}." if delete else f"Deleted nothing. {delete.message}")
turn.result()
