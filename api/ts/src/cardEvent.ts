import { CARD_SHAPES, type CardActions, type CardEnvelope, type CardHint, type CardMetrics, type CardType } from "./cards.gen.js";
import { members } from "./json.js";

/** One event of /v1/ws (S0 §3). `raw` is the payload's text as the hub wrote it. */
export type CardEvent = {
  [T in CardType]: {
    readonly type: T;
    readonly envelope: CardEnvelope;
    readonly hint?: CardHint;
    readonly metrics?: CardMetrics;
    readonly payload: CardActions[T];
    readonly raw: string;
  };
}[CardType];

/** Reads the text of an event. Throws a SyntaxError when it is none. A type that this SDK does not know passes: it is to be ignored. */
export function parseCardEvent(text: string): CardEvent {
  const value: unknown = JSON.parse(text);
  const { type, envelope = {}, hint, metrics, payload } = isObject(value) ? value : {};
  if (typeof type !== "string" || type === "" || !fits(envelope, "CardEnvelope") || !fits(hint, "CardHint") || !fits(metrics, "CardMetrics")) {
    throw new SyntaxError("not an event of a card trace");
  }
  return {
    type,
    envelope: envelope ?? {},
    payload,
    raw: members(text)?.get("payload") ?? "",
    ...(hint ? { hint: known(hint, "CardHint") } : {}),
    ...(metrics ? { metrics: known(metrics, "CardMetrics") } : {}),
  } as CardEvent;
}

export type ShapeName = keyof typeof CARD_SHAPES;

/** Whether a value has the form of a shape, or of one of the words that shapes are made of. */
export function fits(value: unknown, form: string): boolean {
  if (value === undefined || value === null) {
    return true;
  }
  if (form.endsWith("[]")) {
    return Array.isArray(value) && value.every((item) => fits(item, form.slice(0, -2)));
  }
  switch (form) {
    case "unknown":
      return true;
    case "string":
    case "number":
    case "boolean":
      return typeof value === form;
    case "integer":
      return Number.isSafeInteger(value);
    case "time":
      return typeof value === "string" && !Number.isNaN(Date.parse(value));
    case "map":
      return isObject(value);
  }
  const shape: Readonly<Record<string, string>> = CARD_SHAPES[form as ShapeName];
  return isObject(value) && Object.entries(shape).every(([name, of]) => fits(value[name], of));
}

/** A value as the shape that it has; undefined if it is no object or has another form. */
export function shaped<T extends object>(value: unknown, shape: ShapeName): Partial<T> | undefined {
  return isObject(value) && fits(value, shape) ? (value as Partial<T>) : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Of a value that fits a shape what the shape names and what says something: nothing, 0 and "" do not. */
function known(value: unknown, shape: ShapeName): object {
  const fields = value as Record<string, unknown>;
  const said = Object.entries(CARD_SHAPES[shape] as Record<string, string>).flatMap(([name, form]) => {
    const field = fields[name];
    return field === undefined || field === null || field === 0 || field === "" ? [] : [[name, form in CARD_SHAPES ? known(field, form as ShapeName) : field]];
  });
  return Object.fromEntries(said);
}
