/*
 * JSON whose bytes matter. Keys and digests are made of what the hub has written, so numbers keep their spelling and payloads their
 * bytes; JSON.parse keeps neither. What these functions return for a text that is no JSON means nothing, but they return, or throw a SyntaxError.
 */

/** The raw text of each member of an object, undefined if text is no object. Of a repeated name the last one counts. */
export function members(text: string): Map<string, string> | undefined {
  const found = new Map<string, string>();
  let at = space(text, 0);
  if (text[at] !== "{") {
    return undefined;
  }
  at = space(text, at + 1);
  while (text[at] === '"') {
    const colon = space(text, string(text, at));
    const name = JSON.parse(text.slice(at, string(text, at))) as string;
    const start = space(text, colon + 1);
    const end = value(text, start);
    found.set(name, text.slice(start, end));
    at = next(text, end);
  }
  return found;
}

/** The raw text of each element of an array, undefined if text is no array. */
export function elements(text: string): string[] | undefined {
  const found: string[] = [];
  let at = space(text, 0);
  if (text[at] !== "[") {
    return undefined;
  }
  at = space(text, at + 1);
  while (at < text.length && text[at] !== "]") {
    const end = value(text, at);
    found.push(text.slice(at, end));
    at = next(text, end);
  }
  return found;
}

/** The text of an object with these members. */
export function object(fields: Iterable<readonly [string, string]>): string {
  return `{${Array.from(fields, ([name, raw]) => `${JSON.stringify(name)}:${raw}`).join()}}`;
}

/** How deep a value may be nested to have a canonical form here. */
const MAX_DEPTH = 1000;

/** One spelling for values that are equal: names sorted, no spaces, numbers as they were. Throws a RangeError beyond 1,000 levels. */
export function canonical(text: string, depth = 0): string {
  if (depth > MAX_DEPTH) {
    throw new RangeError("nested too deep");
  }
  const fields = members(text);
  if (fields) {
    const sorted = [...fields.keys()].sort();
    return object(sorted.map((name) => [name, canonical(fields.get(name) ?? "", depth + 1)]));
  }
  const array = elements(text);
  if (array) {
    return `[${array.map((element) => canonical(element, depth + 1)).join()}]`;
  }
  const scalar = text.trim();
  return scalar.startsWith('"') ? JSON.stringify(JSON.parse(scalar)) : scalar;
}

/** The first place from `at` on that is no white space. */
function space(text: string, at: number): number {
  while (text[at] === " " || text[at] === "\n" || text[at] === "\t" || text[at] === "\r") {
    at++;
  }
  return at;
}

/** Past a comma and the white space around it. */
function next(text: string, at: number): number {
  at = space(text, at);
  return text[at] === "," ? space(text, at + 1) : at;
}

/** The end of the string that begins at `at`, which is the end of the text if it never ends. */
function string(text: string, at: number): number {
  for (at++; at < text.length && text[at] !== '"'; at++) {
    if (text[at] === "\\") {
      at++;
    }
  }
  return at + 1;
}

/** The end of the value that begins at `at`. */
function value(text: string, at: number): number {
  let depth = 0;
  do {
    const c = text[at];
    if (c === '"') {
      at = string(text, at);
      continue;
    }
    if (c === "{" || c === "[") {
      depth++;
    } else if (c === "}" || c === "]") {
      depth--;
    } else if (depth === 0) {
      return scalar(text, at);
    }
    at++;
  } while (depth > 0 && at < text.length);
  return at;
}

/** The end of the number or word that begins at `at`. */
function scalar(text: string, at: number): number {
  while (at < text.length && !",]} \n\t\r".includes(text[at] ?? "")) {
    at++;
  }
  return at;
}
