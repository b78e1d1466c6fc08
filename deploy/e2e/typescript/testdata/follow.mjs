// Follows everything that a device is told, and says how it gets on, one line of JSON each.
import { Client, MemoryKeeper, MemoryPosition, words } from "@switchyard/client";

let input = "";
for await (const part of process.stdin) {
  input += part;
}
const { hub, credentials, farewell } = JSON.parse(input);
const client = new Client({ hub, keeper: new MemoryKeeper(credentials) });
const at = new MemoryPosition();
const feed = client.feed(at, { begin: "live" });
const say = (line) => console.log(JSON.stringify(line));

let run = "";
let events = 0;
let connections = 0;
let said = "";
for await (const { frame, link, resume, error, isNew } of feed.follow()) {
  if (link) {
    console.error(new Date().toISOString(), link, resume?.resume ?? error.message);
  }
  if (link === "up") {
    say({ connections: ++connections });
  }
  if (isNew && frame.type === "agent.stream") {
    run = frame.payload.task_id;
    said += words(frame)?.text ?? "";
    say({ events: ++events });
  }
  if (isNew && frame.type === "message.new" && frame.payload.content.text === farewell) {
    break;
  }
}
say({ digest: feed.state.digest, runDigest: feed.state.runDigest(run), words: said, cursor: at.cursor });
