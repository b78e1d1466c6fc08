// A bridge agent with switchyard.js: it asks before it writes and before it deletes, both at once, and does what it may.
const fs = require("node:fs");
const { readTurn } = require("./switchyard.js");

const turn = readTurn();
turn.thinking("Two things to do; I ask for both.");
const [write, remove] = turn.requestPermissions([
  { tool: "Write", input: { path: "note.txt", text: turn.message }, description: "Keeps the message as a note." },
  { tool: "Delete", input: { path: "old-note.txt" } },
]);
if (write.allowed) fs.writeFileSync(write.input.path, write.input.text);
turn.partial(write.allowed ? `Wrote ${write.input.path}. ` : `Wrote nothing. ${write.message} `);
if (remove.allowed) fs.rmSync(remove.input.path, { force: true });
turn.partial(remove.allowed ? `Deleted ${remove.input.path}.` : `Deleted nothing. ${remove.message}`);
turn.result();
