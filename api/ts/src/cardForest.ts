import { Card } from "./card.js";
import { type CardEvent, shaped } from "./cardEvent.js";
import { CardPrompt } from "./cardPrompt.js";
import type {
  CardCapabilities, CardErrorInfo, CardErrorInner, CardOpenedInner, CardPromptPayload, CardReplyPayload, CardResumedInner, CardSessionPayload,
  CardUpdatedInner,
} from "./cards.gen.js";
import { canonical, members, object } from "./json.js";
import type { Verdict } from "./reducer.js";
import { hex, sha256 } from "./sha256.js";

/** Of how many cards at most a resume says how far they are known. */
const MAX_CURSORS = 1_000;

/** What session events have told. */
export interface CardSession {
  readonly id: string;
  readonly model: string;
  readonly title: string;
  readonly members: readonly string[];
  readonly capabilities: CardCapabilities;
  /** The newest one since the connection was opened. */
  readonly error?: CardErrorInfo | undefined;
}

/**
 * What the events of a card trace have come to (S0 §14): cards, who stands below whom, and the questions that wait for a person. `apply` makes it
 * from events, in whichever way they were cut, repeated and sent again; the same events always make the same forest.
 */
export class CardForest {
  #trace = "";
  #last = 0;
  #adopt = false; // the next event of a card begins anew, whatever its number: what was before is not kept any more
  #cards = new Map<string, Card>(); // as they were added
  #below = new Map<string, string[]>(); // ids by parent, as they were added
  readonly #prompts = new Map<string, CardPrompt>();
  #session: CardSession = { id: "", model: "", title: "", members: [], capabilities: {} };

  /** The trace that the events are of; "" before the first. */
  get trace(): string {
    return this.#trace;
  }

  /** The number of the newest event that was applied: what a session.resume says as last_seq. */
  get last(): number {
    return this.#last;
  }

  /** What is known of the conversation. */
  get session(): CardSession {
    return this.#session;
  }

  card(id: string): Card | undefined {
    return this.#cards.get(id);
  }

  /** All cards, as they were added. */
  all(): Iterable<Card> {
    return this.#cards.values();
  }

  /** The cards that stand below none that is known, in the order in which they were added. */
  roots(): Card[] {
    return [...this.#cards.values()].filter(({ parent }) => !this.#cards.has(parent));
  }

  /** The cards that stand below one, in the order in which they were added. */
  below(id: string): Card[] {
    return (this.#below.get(id) ?? []).flatMap((child) => this.#cards.get(child) ?? []);
  }

  /** The question of a request. */
  prompt(request: string): CardPrompt | undefined {
    return this.#prompts.get(request);
  }

  /** All questions, in the order in which they were asked. */
  prompts(): CardPrompt[] {
    return [...this.#prompts.values()].sort((a, b) => a.seq - b.seq || (a.requestId < b.requestId ? -1 : 1));
  }

  /**
   * Whether a person may be told that there is time: with recovery, the hub keeps questions over restarts and sends them again. Without, they have to
   * be answered at once (S0 §2.4.5).
   */
  get mayWait(): boolean {
    return this.#session.capabilities.recovery ?? false;
  }

  /** Whether the answer to a question could not be taken since a hub without recovery has forgotten it: the person has to ask again. */
  interrupted(prompt: CardPrompt): boolean {
    return prompt.refused !== undefined && !this.mayWait;
  }

  /** How far open cards are known: the number of the newest append of each, as a session.resume says it. */
  cursors(): Record<string, number> {
    const growing = [...this.#cards.values()].filter((card) => card.status === "open" && card.newestAppend > 0);
    return Object.fromEntries(growing.slice(-MAX_CURSORS).map((card) => [card.id, card.newestAppend]));
  }

  /**
   * Takes one event. `repeated`: its number is not beyond `last`. `missed`: it is not the next one; nothing was applied, resume behind `last`.
   * `ignored`: it is of another trace, or it changes nothing, but its number counts: it is about a card or of a type that is not known. A question
   * is taken whenever it comes, since the hub sends those that wait before everything else.
   */
  apply(event: CardEvent): Verdict {
    if (event.type === "session.event") {
      return this.#tell(event);
    }
    const { seq = 0, trace_id = "" } = event.envelope;
    if (seq <= 0 || (this.#trace !== "" && trace_id !== this.#trace)) {
      return "ignored";
    }
    this.#trace = trace_id;
    const asked = event.type === "prompt.user" ? this.#ask(event) : undefined;
    if (this.#adopt && event.type.startsWith("card.")) {
      this.#adopt = false;
    } else if (seq <= this.#last) {
      return asked === "applied" ? asked : "repeated";
    } else if (seq > this.#last + 1) {
      return "missed";
    }
    this.#last = seq;
    return asked ?? this.#take(event);
  }

  /**
   * Over everything that the trace has made of the forest: two that have heard the same events have the same digest, however often and in however many
   * pieces they came. It is that of the Go SDK.
   */
  get digest(): string {
    return hex(sha256(new TextEncoder().encode(this.view())));
  }

  /** What of a forest depends on its trace alone, as canonical JSON; api/card-scenarios.md describes it. */
  view(): string {
    const list = (all: Iterable<{ view(): string }>) => `[${Array.from(all, (one) => one.view()).join()}]`;
    const fields: Array<[string, string]> = [
      ["trace_id", JSON.stringify(this.#trace)],
      ["seq", String(this.#last)],
      ["cards", list(this.#cards.values())],
      ["prompts", list(this.prompts())],
    ];
    return canonical(object(fields));
  }

  #take(event: CardEvent): Verdict {
    if (event.type === "card.add") {
      return this.#add(event);
    }
    if (event.type === "prompt.reply") {
      return this.#reply(shaped(event.payload, "CardReplyPayload"));
    }
    return this.#cards.get(event.envelope.card_id)?.take(event) ? "applied" : "ignored";
  }

  /** Opens a card. One that is there is opened anew where it stands. */
  #add(event: CardEvent): Verdict {
    const fields = members(event.raw);
    if (!fields || !event.envelope.card_id) {
      return "ignored";
    }
    const card = new Card(event, fields);
    const before = this.#cards.get(card.id);
    if (before?.parent !== card.parent) {
      if (before) {
        this.#below.set(before.parent, (this.#below.get(before.parent) ?? []).filter((id) => id !== card.id));
      }
      const below = this.#below.get(card.parent) ?? [];
      below.push(card.id);
      this.#below.set(card.parent, below);
    }
    this.#cards.set(card.id, card);
    return "applied";
  }

  /** Notes a question. One that is known is not asked again, unless the hub says that an answer it has refused is still waited for. */
  #ask(event: CardEvent): Verdict {
    const payload = shaped<CardPromptPayload>(event.payload, "CardPromptPayload");
    if (!payload?.request_id) {
      return "ignored";
    }
    const known = this.#prompts.get(payload.request_id);
    if (!known) {
      this.#prompts.set(payload.request_id, new CardPrompt(event, payload));
    } else if (known.refused && !known.reply) {
      known.refused = undefined;
    } else {
      return "repeated";
    }
    return "applied";
  }

  /** Notes what became of a question. */
  #reply(payload: Partial<CardReplyPayload> | undefined): Verdict {
    const asked = this.#prompts.get(payload?.request_id ?? "");
    if (!asked) {
      return "ignored";
    }
    asked.reply = payload as CardReplyPayload;
    return "applied";
  }

  /** Takes a session event. It has no number and is told to this connection alone. */
  #tell(event: CardEvent): Verdict {
    const { kind, inner } = shaped<CardSessionPayload>(event.payload, "CardSessionPayload") ?? {};
    switch (kind) {
      case "opened":
        return told(shaped<CardOpenedInner>(inner, "CardOpenedInner"), (opened) => this.#opened(event, opened));
      case "updated":
        return told(shaped<CardUpdatedInner>(inner, "CardUpdatedInner"), (updated) => this.#updated(updated));
      case "error":
        return told(shaped<CardErrorInner>(inner, "CardErrorInner"), ({ error }) => error && this.#refuse(error));
      case "resumed":
        return told(shaped<CardResumedInner>(inner, "CardResumedInner"), (resumed) => this.#begin(resumed));
      case "resume_failed":
        return told(shaped(inner, "CardResumeFailedInner"), () => {
          // What was before cannot be had any more. What comes from here on can.
          this.#clear();
          this.#adopt = true;
        });
    }
    return "ignored";
  }

  /** Has a forest without any event begin where the hub does: what was before is not kept any more. */
  #begin({ trace_id, from_seq = 1 }: Partial<CardResumedInner>): void {
    if (this.#last === 0 && from_seq > 1 && trace_id === this.#trace) {
      this.#last = from_seq - 1;
      this.#adopt = false;
    }
  }

  /** Begins a connection. Another trace is another forest. */
  #opened({ envelope }: CardEvent, { model = "", capabilities }: Partial<CardOpenedInner>): void {
    const { trace_id = "", session_id = "" } = envelope;
    if (trace_id !== "" && trace_id !== this.#trace) {
      this.#prompts.clear();
      this.#clear();
      this.#adopt = false;
      this.#trace = trace_id;
    }
    this.#session = { ...this.#session, id: session_id, model, capabilities: capabilities ?? {}, error: undefined };
  }

  #updated({ title, model, members }: Partial<CardUpdatedInner>): void {
    const before = this.#session;
    this.#session = { ...before, title: title || before.title, model: model || before.model, members: members ?? before.members };
  }

  /** Notes an error, and hides the question that it is about: the hub says which in the details. */
  #refuse(error: CardErrorInfo): void {
    this.#session = { ...this.#session, error };
    const asked = this.#prompts.get(String(error.details?.["request_id"] ?? ""));
    if (asked && !asked.reply) {
      asked.refused = error;
    }
  }

  /** Forgets the trace, but not the questions: the hub has just sent those that wait. */
  #clear(): void {
    this.#last = 0;
    this.#cards = new Map();
    this.#below = new Map();
  }
}

function told<T>(inner: T | undefined, take: (inner: T) => void): Verdict {
  if (inner === undefined) {
    return "ignored";
  }
  take(inner);
  return "applied";
}
