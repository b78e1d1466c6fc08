// Steers a run, has its context made smaller, ends a wait of its agent, and stops one; says what the agent has said.
import { Client, MemoryKeeper, TaskError } from "@switchyard/client";

let input = "";
for await (const part of process.stdin) {
  input += part;
}
const { hub, credentials, session: id } = JSON.parse(input);
const session = new Client({ hub, keeper: new MemoryKeeper(credentials) }).session(id);

async function run(words, on) {
  const said = [];
  let last;
  try {
    for await (const { payload } of session.run(words)) {
      last = payload.type;
      if (payload.type === "text" && payload.role === "assistant") {
        said.push(payload.text);
      }
      await on(payload);
    }
  } catch (error) {
    if (!(error instanceof TaskError)) {
      throw error;
    }
    last += ` ${error.state}`;
  }
  return [...said, last].join("|");
}

const told = [
  await run("Listen.", async ({ type, text, status }) => {
    if (type === "text" && text === "I am listening.") {
      await session.steer("Slower.");
    } else if (type === "text" && text === "You say: Slower.") {
      await session.compact();
    } else if (type === "compaction_end" && status === "completed") {
      await session.steer("Enough.");
    }
  }),
  await run("Be patient.", async ({ retry_in_ms }) => retry_in_ms && console.error(await session.retryNow())),
  await run("Listen.", async ({ type, text }) => type === "text" && text === "I am listening." && console.error(await session.abort())),
  String(await session.abort()),
];
console.log(JSON.stringify({ digest: "over", words: told.join("\n") }));
