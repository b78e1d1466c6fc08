import type { Clock } from "./clock.js";
import { questions } from "./bubble.js";
import type { FrameType } from "./hubEvents.js";
import { elements, members, object } from "./json.js";
import { ProblemError, UnreachableError } from "./problem.js";
import type { Reducer } from "./reducer.js";
import type { Request, Send } from "./send.js";
import type { AgentTask, Message, Prompt, Session } from "./types.gen.js";
import type { FeedOptions } from "./update.js";

/** What the frames of a run have in common. */
export interface RunRef {
  task_id: string;
  session_id: string;
  agent_instance_id: string;
}

/** A frame that was made of what REST has answered: its type, and the text of its payload. */
export interface Asked {
  type: FrameType;
  raw: string;
}

const PAGE_SIZE = 500; // events or messages
const LIST_SIZE = 200; // of conversations or questions on one page
const MAX_SESSIONS = 4000; // in a snapshot
const MAX_QUESTIONS = 4000;
const PER_SESSION = 100; // messages of a conversation that was not heard of before
const ASK_AGAIN = 500; // milliseconds

/** Asks a hub for what frames would have said. Texts are kept as they are: digests are over them. */
export class Questioner {
  readonly #send: Send;
  readonly #clock: Clock;
  readonly #options: FeedOptions;

  constructor(send: Send, clock: Clock, options: FeedOptions) {
    this.#send = send;
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * What a reset has hidden: conversations, messages, how the runs stand that were under way, questions. Of conversations that were not heard of
   * before, only messages younger than since.
   */
  async *snapshot(since: number, state: Reducer, heads: Map<string, number>, runs: Map<string, RunRef>): AsyncGenerator<Asked> {
    const sessions = await this.#forgivable(this.#sessions());
    if (!sessions) {
      return;
    }
    if (this.#options.begin !== "live") {
      yield* this.#conversations(sessions, state);
    }
    const missed = await this.#forgivable(this.#missed(sessions, since, heads));
    if (!missed) {
      return;
    }
    yield* missed.map(({ raw }): Asked => ({ type: "message.new", raw }));
    yield* this.#standing([...runs.keys()].sort(), state);
    if (this.#options.begin !== "live") {
      yield* this.#questions(state);
    }
  }

  /** What the record has of a run beyond what was told. */
  async *events(about: RunRef, state: Reducer): AsyncGenerator<Asked> {
    for (let after: number | undefined = state.watermark(about.task_id); after !== undefined; ) {
      const query = { after_seq: after, limit: PAGE_SIZE };
      const page: Page | undefined = await this.#forgivable(this.#list(`/web/agent-tasks/${about.task_id}/events`, query));
      for (const event of page?.items ?? []) {
        yield { type: "agent.stream", raw: streamPayload(about, event) };
      }
      after = page?.next as number | undefined;
    }
  }

  /** Lists the conversations that this feed is about. */
  async #sessions(): Promise<Item<Session>[]> {
    const all = await this.#pages<Session>("/client/sessions", {}, MAX_SESSIONS);
    return all.filter(({ value }) => this.#options.session === undefined || this.#options.session === value.id);
  }

  /** Conversations that are; those that are no more for this user are forgotten. */
  *#conversations(sessions: Item<Session>[], state: Reducer): Generator<Asked> {
    for (const { raw } of sessions) {
      yield { type: "session.created", raw: pick(raw, { session_id: "id", type: "type", name: "name", owner_id: "owner_id", members: "members" }) };
    }
    if (this.#options.session === undefined) {
      state.retain("session", new Set(sessions.map(({ value }) => value.id)));
    }
  }

  async #missed(sessions: Item<Session>[], since: number, heads: Map<string, number>): Promise<Item<Message>[]> {
    const missed: Item<Message>[] = [];
    for (const { value } of sessions) {
      missed.push(...(await this.#messages(value, since, heads.get(value.id))));
    }
    return missed.sort((a, b) => Date.parse(a.value.created_at) - Date.parse(b.value.created_at));
  }

  /** What was said in a conversation after what was told of it, or since a time if nothing was. */
  async #messages(session: Session, since: number, head: number | undefined): Promise<Item<Message>[]> {
    const path = `/client/sessions/${session.id}/messages`;
    if (head === undefined) {
      if (Date.parse(session.updated_at) < since) {
        return [];
      }
      const page = await this.#list(path, { limit: PER_SESSION });
      return page.items.map(itemOf<Message>).filter(({ value }) => Date.parse(value.created_at) >= since);
    }
    const all: Item<Message>[] = [];
    for (let after: number | undefined = head < session.last_seq ? head : undefined; after !== undefined; ) {
      const page: Page = await this.#list(`${path}/sync`, { after_seq: after, limit: PAGE_SIZE });
      all.push(...page.items.map(itemOf<Message>));
      after = page.next as number | undefined;
    }
    return all;
  }

  /** The rest of the runs that were under way, and how they ended if they have. */
  async *#standing(tasks: string[], state: Reducer): AsyncGenerator<Asked> {
    for (const id of tasks) {
      const task = await this.#forgivable(this.#ask<AgentTask>(`/web/agent-tasks/${id}`));
      if (task) {
        yield* this.events({ task_id: task.id, session_id: task.session_id, agent_instance_id: task.agent_id }, state);
        yield* endOf(task);
      }
    }
  }

  /** The questions that are open, and how those stand that were open by what was told before. */
  async *#questions(state: Reducer): AsyncGenerator<Asked> {
    const list = await this.#forgivable(this.#pages<Prompt>("/client/prompts", { state: "pending" }, MAX_QUESTIONS));
    if (!list) {
      return;
    }
    const open = new Set(list.map(({ value }) => value.request_id));
    for (const { task_id, request_id } of questions(state).filter((known) => !open.has(known.request_id))) {
      const now = await this.#forgivable(this.#ask<string>(`/web/agent-tasks/${task_id}/approvals/${request_id}`, {}, "text"));
      if (now !== undefined) {
        list.push(itemOf<Prompt>(now));
      }
    }
    for (const prompt of list) {
      if (this.#options.session === undefined || prompt.value.session_id === this.#options.session) {
        yield { type: "notification.new", raw: notification(prompt) };
      }
    }
  }

  async #pages<T>(path: string, query: Request["query"], limit: number): Promise<Item<T>[]> {
    const all: Item<T>[] = [];
    for (let after: string | undefined = ""; after !== undefined && all.length < limit; ) {
      const page: Page = await this.#list(path, { ...query, limit: LIST_SIZE, after: after || undefined });
      all.push(...page.items.map(itemOf<T>));
      after = page.next as string | undefined;
    }
    return all.slice(0, limit);
  }

  async #list(path: string, query: Request["query"]): Promise<Page> {
    const page = members(await this.#ask<string>(path, query, "text"));
    return { items: elements(page?.get("items") ?? "[]") ?? [], next: JSON.parse(page?.get("next") ?? "null") ?? undefined };
  }

  /** Asks until the hub answers: the socket stands or will stand again, so a refusal of the moment is no reason to leave a hole. */
  async #ask<T>(path: string, query: Request["query"] = {}, answer: Request["answer"] = "json"): Promise<T> {
    const { signal } = this.#options;
    for (;;) {
      try {
        return await this.#send<T>({ method: "GET", path, query, answer }, { signal });
      } catch (error) {
        if (!isBusy(error)) {
          throw error;
        }
      }
      await new Promise<void>((resolve) => this.#clock.after(ASK_AGAIN, resolve));
      signal?.throwIfAborted();
    }
  }

  /** Drops a hub's refusal: what it does not give, a conversation that was left or a run that was removed, cannot be told. */
  async #forgivable<T>(asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
    } catch (error) {
      if (error instanceof ProblemError) {
        return undefined;
      }
      throw error;
    }
  }
}

/** A list's page: the texts of its items, and where the next one begins. */
interface Page {
  items: string[];
  next: string | number | undefined;
}

/** A resource, read and as it came. */
interface Item<T> {
  raw: string;
  value: T;
}

function itemOf<T>(raw: string): Item<T> {
  return { raw, value: JSON.parse(raw) as T };
}

function isBusy(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof ProblemError && (error.status >= 500 || error.status === 429));
}

/** The text of an object made of some fields of another, by their new names; what is absent there is absent here. */
function pick(raw: string, names: Record<string, string>): string {
  const fields = members(raw);
  return object(
    Object.entries(names).flatMap(([name, from]) => {
      const value = fields?.get(from);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** The payload of the agent.stream frame of a stored event. */
function streamPayload(about: RunRef, event: string): string {
  const fields = members(event);
  const own = pick(event, { id: "id", event_seq: "event_seq", event_type: "wire_type", created_at: "recorded_at", late: "late" });
  return object([
    ...Object.entries(about).map(([name, value]) => [name, JSON.stringify(value)] as const),
    ...(members(own) ?? []),
    ["payload", JSON.stringify(fields?.get("payload") ?? "")],
    ["traceId", JSON.stringify(`trace_${JSON.parse(fields?.get("trace_id") ?? '""')}`)],
  ]);
}

/** How a question stands, as the hub's frame would say it. */
function notification({ raw, value }: Item<Prompt>): string {
  return object([
    ["id", JSON.stringify(value.request_id)],
    ["type", '"prompt"'],
    ["payload", raw],
    ["read", String(value.state !== "pending")],
    ["created_at", JSON.stringify(value.asked_at)],
  ]);
}

/** The frame that a run's state stands for; none while it is under way. */
function endOf(task: AgentTask): Asked[] {
  const about = { task_id: task.id, agent_instance_id: task.agent_id, session_id: task.session_id };
  switch (task.state) {
    case "completed":
      return [{ type: "agent.done", raw: JSON.stringify(about) }];
    case "cancelled":
      return [{ type: "agent.cancel", raw: JSON.stringify(about) }];
    case "failed":
    case "interrupted":
      return [{ type: "agent.failed", raw: JSON.stringify({ ...about, error: task.error }) }];
    default:
      return [];
  }
}
