// Agents for Switchyard's bridge protocol 0.4, in Node 18 and later. One file, no dependencies: copy it beside your agent.
//
//   const { readTurn } = require("./switchyard.js");
//   const turn = readTurn();
//   turn.partial("You said: " + turn.message);
//   turn.result();
//
// Everything that is not the agent's business is here: lines, session ids, and answers to permission requests in whatever order they come.
// Reads and writes wait: an agent that answers one turn has nothing else to do.
"use strict";
const fs = require("node:fs");

const pause = new Int32Array(new SharedArrayBuffer(4));

// again repeats a call of the system that has nothing to do yet.
function again(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (error.code === "EOF") return 0;
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

// Lines reads stdin line by line.
class Lines {
  constructor() {
    this.rest = Buffer.alloc(0);
    this.chunk = Buffer.alloc(65536);
  }

  // next returns a line, or null at the end.
  next() {
    const pieces = [];
    for (;;) {
      const end = this.rest.indexOf(10);
      if (end >= 0) {
        pieces.push(this.rest.subarray(0, end));
        this.rest = this.rest.subarray(end + 1);
        return Buffer.concat(pieces).toString("utf8");
      }
      pieces.push(this.rest);
      const read = again(() => fs.readSync(0, this.chunk, 0, this.chunk.length, null));
      this.rest = Buffer.from(this.chunk.subarray(0, read));
      if (read === 0) {
        const last = Buffer.concat(pieces).toString("utf8");
        return last === "" ? null : last;
      }
    }
  }
}

// Turn is what the agent is asked, and its voice. Set `session` to a name under which you can find this conversation again; it is "" for a
// new one, and what you called it last time otherwise. Leave it alone if you keep nothing between turns.
class Turn {
  constructor(line, lines) {
    this.message = line.message;
    this.session = line.session_id;
    this.sessionName = line.session_name ?? "default";
    this.attachments = line.attachments ?? [];
    this.permission = line.permission ?? false;
    this.lines = lines;
    this.asked = 0;
  }

  // partial says the next piece of the reply.
  partial(text) {
    this.say({ type: "partial", text });
  }

  // thinking says the next piece of the reasoning, which is shown beside the reply.
  thinking(text) {
    this.say({ type: "partial", role: "thinking", text });
  }

  // result ends the turn. text is the whole reply, needed only if no partial said it.
  result(text = "", usage = undefined) {
    this.say({ type: "result", text, usage });
  }

  // error fails the turn with a sentence for people. Exit after it.
  error(message) {
    this.say({ type: "error", message });
  }

  // requestPermission asks a person whether tool may be used, and waits for { allowed, input, message }. input is what the tool may be used
  // with: yours, or what the person made of it.
  requestPermission(tool, input, description = undefined) {
    return this.requestPermissions([{ tool, input, description }])[0];
  }

  // requestPermissions asks for several tools at once and waits for all answers, in the order asked.
  requestPermissions(requests) {
    if (!this.permission) {
      const message = "This agent may not ask: its profile lacks permission: true."; // nobody would answer
      return requests.map(({ input }) => ({ allowed: false, input, message }));
    }
    const ids = requests.map(({ tool, input, description }) => {
      const id = String(++this.asked);
      this.say({ type: "permission_request", request_id: id, tool_name: tool, input, description });
      return id;
    });
    const answers = this.answers(new Set(ids));
    return ids.map((id, i) => permission(answers.get(id), requests[i].input));
  }

  answers(waiting) {
    const answers = new Map();
    while (answers.size < waiting.size) {
      const line = this.lines.next();
      if (line === null) break; // the turn is over: what has no answer is denied
      const answer = JSON.parse(line);
      if (answer.type === "permission_response" && waiting.has(answer.request_id)) answers.set(answer.request_id, answer);
    }
    return answers;
  }

  say(event) {
    if (this.session) event.session_id = this.session;
    let bytes = Buffer.from(JSON.stringify(event) + "\n");
    while (bytes.length > 0) bytes = bytes.subarray(again(() => fs.writeSync(1, bytes)));
  }
}

function permission(answer, input) {
  if (answer === undefined) return { allowed: false, input, message: "Nobody answered." };
  if (answer.behavior !== "allow") return { allowed: false, input, message: answer.message ?? "" };
  return { allowed: true, input: answer.updated_input ?? input, message: "" };
}

// readTurn reads the turn from stdin. stdout belongs to the protocol from here on: console.error is for you.
function readTurn() {
  const lines = new Lines();
  const line = lines.next();
  if (line === null) {
    console.error("switchyard: stdin ended before there was a turn");
    process.exit(1);
  }
  return new Turn(JSON.parse(line), lines);
}

module.exports = { readTurn };
