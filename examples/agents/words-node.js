// A bridge agent in Node: it streams the words of the message one by one, and fails politely when it is told to.
let input = "";
process.stdin.on("data", (chunk) => (input += chunk)).on("end", () => {
  const turn = JSON.parse(input);
  const say = (event) => process.stdout.write(JSON.stringify(event) + "\n");
  if (turn.message === "fail") return say({ type: "error", message: "I was told to fail." });
  const words = turn.message.split(/\s+/).filter(Boolean);
  for (const word of words) say({ type: "partial", text: word + " " });
  say({ type: "result", text: "", usage: { output_tokens: words.length } });
});
