import { isObject, type OmniMessage, shapeOf, typeOf } from "./omni.js";
import { OMNI_SHAPES, type OmniField } from "./omni.gen.js";

/** Something that is not as S1 has it, and where: "payload.tools[1].name". */
export interface OmniProblem {
  path: string;
  what: string;
}

/** How many problems are collected: a line can be wrong in millions of places. */
const MOST = 20;

/** In which fields a message is not as S1 has it, at most 20 of them. Keys that are not known are right, and so are payloads of a type that is not (R12). */
export function problemsOf(message: OmniMessage): OmniProblem[] {
  const found: OmniProblem[] = [];
  const add = (path: string, what: string) => found.length < MOST && found.push({ path, what });
  checkEnvelope(message, add);
  const shape = shapeOf(message);
  if (shape) {
    const payload = message.payload as unknown as Record<string, unknown>;
    checkFields(payload, shape.fields, "payload", add);
    if (shape.role) {
      checkField(payload["role"], { name: "role", kind: "string", words: [shape.role] }, "payload.role", add);
    }
    if (shape.type === "request_end" || shape.type === "compaction_end") {
      checkRetry(payload, add);
    }
  }
  return found;
}

type Add = (path: string, what: string) => void;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function checkEnvelope({ timestamp, type, payload, origin }: OmniMessage, add: Add): void {
  const zone = typeof timestamp === "string" ? TIME.exec(timestamp)?.[2] : undefined;
  if (zone === undefined || Number.isNaN(Date.parse(timestamp))) {
    add("timestamp", "is no time of ISO 8601");
  } else if (zone !== "Z" && !zone.endsWith("00:00")) {
    add("timestamp", "is not in UTC");
  }
  if (origin !== undefined) {
    checkField(origin, { name: "origin", kind: "list", elements: "string", filled: true }, "origin", add);
    if (Array.isArray(origin) && origin.length === 0) {
      add("origin", "is empty: the main session has none");
    }
  }
  const kind = typeOf(payload);
  if (type !== "model_msg" && type !== "event_msg") {
    return;
  }
  if (kind === "") {
    add("payload.type", "is missing");
  } else if (OMNI_SHAPES.some((shape) => shape.type === kind && shape.message !== type)) {
    add("payload.type", `${kind} is no payload of ${type}`);
  }
}

function checkFields(object: Record<string, unknown>, fields: readonly OmniField[], path: string, add: Add): void {
  for (const field of fields) {
    const value = object[field.name];
    if (value !== undefined || !field.optional) {
      checkField(value, field, `${path}.${field.name}`, add);
    }
  }
}

function checkField(value: unknown, field: OmniField, path: string, add: Add): void {
  if (value === undefined) {
    return add(path, "is missing");
  }
  if (field.nullable && value === null) {
    return;
  }
  switch (field.kind) {
    case "string":
      return checkText(value, field, path, add);
    case "number":
      return checkCount(value, path, add);
    case "number or string":
      return typeof value === "string" ? checkText(value, { ...field, filled: true }, path, add) : checkCount(value, path, add);
    case "object":
      if (!isObject(value)) {
        return add(path, "is no object");
      }
      return checkFields(value, field.fields ?? [], path, add);
    case "list":
      return checkList(value, field, path, add);
  }
}

function checkText(value: unknown, field: OmniField, path: string, add: Add): void {
  if (typeof value !== "string") {
    add(path, "is no string");
  } else if (field.filled && value === "") {
    add(path, "is empty");
  } else if (field.words && !field.words.includes(value)) {
    add(path, `is ${JSON.stringify(value.slice(0, 40))}, which is none of ${field.words.join(", ")}`);
  } else if (field.holds === "images" && !isDataURL(value)) {
    add(path, "is no data:MIME;base64,… URL");
  } else if (field.holds === "image_url" && !isDataURL(value) && !/^https?:\/\//.test(value)) {
    add(path, "is neither a URL of the web nor a data:MIME;base64,… URL");
  }
}

function checkCount(value: unknown, path: string, add: Add): void {
  if (!Number.isSafeInteger(value)) {
    add(path, `is no whole number up to ${Number.MAX_SAFE_INTEGER}`);
  } else if ((value as number) < 0) {
    add(path, "is negative");
  }
}

function checkList(value: unknown, { elements, fields, filled, holds }: OmniField, path: string, add: Add): void {
  if (!Array.isArray(value)) {
    return add(path, "is no list");
  }
  const element = { name: "", kind: (elements ?? "value") as OmniField["kind"], fields, filled, holds };
  value.forEach((item, i) => checkField(item, element, `${path}[${i}]`, add));
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function isDataURL(url: string): boolean {
  const at = url.indexOf(";base64,");
  const data = url.slice(at + ";base64,".length);
  return at > "data:".length && url.startsWith("data:") && data.length % 4 === 0 && BASE64.test(data);
}

/** Holds what is told of attempts to S1 (request_end). */
function checkRetry(payload: Record<string, unknown>, add: Add): void {
  const { status, error_message, attempt, retry_in_ms } = payload;
  if (status === "completed" && error_message) {
    add("payload.error_message", "says what went wrong where nothing did");
  }
  if (status === "completed" && attempt === 1) {
    add("payload.attempt", "is left out where the first attempt succeeds");
  }
  if (attempt === 0) {
    add("payload.attempt", "counts from 1");
  }
  if (typeof retry_in_ms === "number" && !["failed", "timeout", "malformed"].includes(status as string)) {
    add("payload.retry_in_ms", `is there although ${String(status)} is not tried again`);
  }
}

/** Whether each known field of a payload has a value of its kind, whatever the value. null stands for what is not there. */
export function isReadable(payload: unknown, fields: readonly OmniField[]): boolean {
  return isObject(payload) && fields.every((field) => fits(payload[field.name], field));
}

function fits(value: unknown, field: OmniField): boolean {
  if (value === undefined || value === null) {
    return true;
  }
  switch (field.kind) {
    case "string":
      return typeof value === "string";
    case "number":
      return Number.isSafeInteger(value);
    case "number or string":
      return typeof value === "string" || Number.isSafeInteger(value);
    case "list":
      return Array.isArray(value) && value.every((item) => fits(item, { name: "", kind: (field.elements ?? "value") as OmniField["kind"], fields: field.fields }));
    case "object":
      return field.fields === undefined || isReadable(value, field.fields);
    default:
      return true;
  }
}
