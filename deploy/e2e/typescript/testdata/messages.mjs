// Gives a conversation a task that others give too, by the same key, and says what it was told of the run: how much, over how many connections, and digests.
import { createHash } from "node:crypto";

import { checkStream, Client, isInTrace, isPartialPayload, lineOf, MemoryKeeper } from "@switchyard/client";

let input = "";
for await (const part of process.stdin) {
  input += part;
}
const { hub, credentials, session } = JSON.parse(input);
const say = (line) => console.log(JSON.stringify(line));

let connections = 0;
const update = ({ link, error }) => {
  connections += link === "up" ? 1 : 0;
  if (error) {
    console.error(new Date().toISOString(), error.message);
  }
};
const told = [];
for await (const message of new Client({ hub, keeper: new MemoryKeeper(credentials) }).session(session).run("@worker go", { key: "the-same", from: "0", update })) {
  if (told.push(message) === 20) {
    say({ events: told.length });
  }
}
const digest = (messages) => createHash("sha256").update(messages.map((message) => `${lineOf(message)}\n`).join("")).digest("hex");
const whole = told.filter(({ type, payload }) => type !== "model_msg" || !isPartialPayload(payload));
const breaches = checkStream(told);
console.error(breaches.slice(0, 3));
say({ digest: digest(told), runDigest: digest(whole), events: told.length, connections, seq: breaches.length, words: String(whole.filter(isInTrace).length) });
