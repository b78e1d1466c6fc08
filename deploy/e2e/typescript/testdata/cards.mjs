// Asks the agent of a conversation, answers its question once the connection was lost and made anew, and says how it gets on, one line of JSON each.
import { Client, MemoryKeeper } from "@switchyard/client";

let input = "";
for await (const part of process.stdin) {
  input += part;
}
const { hub, credentials, session } = JSON.parse(input);
const feed = new Client({ hub, keeper: new MemoryKeeper(credentials) }).cards({ session });
const say = (line) => console.log(JSON.stringify(line));

let connections = 0;
let told = 0;
for await (const { event, link, error, failed } of feed.follow()) {
  if (link === "down") {
    console.error(new Date().toISOString(), error.message);
  } else if (link === "up") {
    say({ connections: ++connections });
    if (connections === 1) {
      feed.send({ type: "user.message", text: "Ask me" });
    }
  }
  if (failed) {
    console.error(failed.error.message);
  }
  if (event?.type === "prompt.user") {
    told++;
    say({ asked: event.payload.request_id });
  }
  if (event?.type === "session.event" && event.payload.kind === "resumed" && connections > 1) {
    for (const { requestId } of feed.forest.prompts().filter((prompt) => prompt.visible)) {
      feed.send({ type: "prompt.user_response", request_id: requestId, decision: "approved", payload: { selected_options: ["是"] } });
    }
  }
  if (event?.type === "card.close" && event.envelope.card_kind === "turn") {
    break;
  }
}
const [turn] = feed.forest.roots().filter(({ kind }) => kind === "turn");
const words = feed.forest.below(turn.id).map((card) => card.text("text")).join("");
say({ digest: feed.forest.digest, seq: feed.forest.last, words, told, answers: feed.forest.prompts().map(({ reply }) => reply?.decision) });
