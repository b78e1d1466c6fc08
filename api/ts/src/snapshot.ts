import { type Asked, endOf, notification, pick, type RunRef, streamPayload } from "./asked.js";
import { Asker, type Delay, forgivable, type Item, itemOf, type Page } from "./ask.js";
import { questions } from "./bubble.js";
import type { Clock } from "./clock.js";
import type { Reducer } from "./reducer.js";
import type { Request, Send } from "./send.js";
import type { AgentTask, Message, Prompt, Session } from "./types.gen.js";
import type { FeedOptions } from "./update.js";

const PAGE_SIZE = 500; // events or messages
const LIST_SIZE = 200; // of conversations or questions on one page
const MAX_SESSIONS = 4000; // in a snapshot
const MAX_QUESTIONS = 4000;
const PER_SESSION = 100; // messages of a conversation that was not heard of before

/** Says that something is left out; see Update.truncated. */
interface Truncation {
  truncated: true;
  session?: string;
}

/** What a snapshot tells beside frames. */
type Aside = Delay | Truncation;

/** What a snapshot tells: frames, what they leave out, and why there are none yet. */
export type Told = Asked | Aside;

/** Asks a hub for what frames would have said. */
export class Questioner {
  readonly #hub: Asker;
  readonly #options: FeedOptions;

  constructor(send: Send, clock: Clock, options: FeedOptions) {
    this.#hub = new Asker(send, clock, options.signal);
    this.#options = options;
  }

  /**
   * What a reset has hidden: conversations, messages, how the runs stand that were under way, questions. Of conversations that were not heard of
   * before, only messages younger than since.
   */
  async *snapshot(since: number, state: Reducer, heads: Map<string, number>, runs: Map<string, RunRef>): AsyncGenerator<Told> {
    const { sessions, all } = yield* this.#sessions();
    if (this.#options.begin !== "live") {
      yield* this.#conversations(sessions, all, state);
    }
    yield* this.#missed(sessions, since, heads);
    yield* this.#standing([...runs.keys()].sort(), state);
    if (this.#options.begin !== "live") {
      yield* this.#questions(state);
    }
  }

  /** What the record has of a run beyond what was told. */
  async *events(about: RunRef, state: Reducer): AsyncGenerator<Told> {
    for (let after: number | undefined = state.watermark(about.task_id); after !== undefined; ) {
      const query = { after_seq: after, limit: PAGE_SIZE };
      const page: Page | undefined = yield* forgivable(this.#hub.page(`/web/agent-tasks/${about.task_id}/events`, query));
      for (const event of page?.items ?? []) {
        yield { type: "agent.stream", raw: streamPayload(about, event) };
      }
      after = page?.next as number | undefined;
    }
  }

  /** What was said in one conversation after what was told of it. */
  async *said(session: string, since: number, heads: Map<string, number>): AsyncGenerator<Told> {
    const messages = yield* forgivable(this.#unheard(session, since, heads.get(session)));
    yield* (messages ?? []).map(({ raw }): Asked => ({ type: "message.new", raw }));
  }

  /**
   * Lists the conversations that this feed is about; `all` says that the user has no others. The list is ordered by what happened last: one in
   * which something happens while it is read moves to its front, so it is read from there until there is nothing new.
   */
  async *#sessions(): AsyncGenerator<Delay, { sessions: Item<Session>[]; all: boolean }, void> {
    const found = new Map<string, Item<Session>>();
    for (let again = false; yield* this.#count(found, again); again = true) {}
    const one = this.#options.session;
    const sessions = [...found.values()].filter(({ value }) => one === undefined || one === value.id);
    return { sessions, all: found.size < MAX_SESSIONS };
  }

  /** Reads the list once, again only as far as it has news. It says whether some may have moved while it was read; of one page none has. */
  async *#count(found: Map<string, Item<Session>>, again: boolean): AsyncGenerator<Delay, boolean, void> {
    for (let after: string | undefined; ; ) {
      const page: Page = yield* this.#hub.page("/client/sessions", { limit: LIST_SIZE, after }, true);
      const known = found.size;
      for (const item of page.items.map(itemOf<Session>)) {
        found.set(item.value.id, item);
      }
      if (page.next === undefined || found.size >= MAX_SESSIONS || (again && found.size === known)) {
        return after !== undefined && found.size < MAX_SESSIONS;
      }
      after = page.next as string;
    }
  }

  /** Conversations that are; if these are all, those that are no more for this user are forgotten. */
  *#conversations(sessions: Item<Session>[], all: boolean, state: Reducer): Generator<Told> {
    for (const { raw } of sessions) {
      yield { type: "session.created", raw: pick(raw, { session_id: "id", type: "type", name: "name", owner_id: "owner_id", members: "members" }) };
    }
    if (this.#options.session !== undefined) {
      return;
    }
    if (!all) {
      yield { truncated: true };
    } else {
      state.retain("session", new Set(sessions.map(({ value }) => value.id)));
    }
  }

  /** What was said in conversations, in the order of time. One that is refused was left since they were listed. */
  async *#missed(sessions: Item<Session>[], since: number, heads: Map<string, number>): AsyncGenerator<Told> {
    const missed: Item<Message>[] = [];
    for (const { value } of sessions) {
      missed.push(...((yield* forgivable(this.#messages(value, since, heads.get(value.id)))) ?? []));
    }
    missed.sort((a, b) => Date.parse(a.value.created_at) - Date.parse(b.value.created_at));
    yield* missed.map(({ raw }): Asked => ({ type: "message.new", raw }));
  }

  /** What was said in a conversation after what was told of it, or since a time if nothing was. */
  async *#messages(session: Session, since: number, head: number | undefined): AsyncGenerator<Aside, Item<Message>[], void> {
    const nothing = head === undefined ? Date.parse(session.updated_at) < since : head >= session.last_seq;
    return nothing ? [] : yield* this.#unheard(session.id, since, head);
  }

  #unheard(session: string, since: number, head: number | undefined): AsyncGenerator<Aside, Item<Message>[], void> {
    return head === undefined ? this.#newest(session, since) : this.#after(session, head);
  }

  /** Pages back to the first message that is not younger than since. Without a since, one page is enough; it tells that there are more. */
  async *#newest(session: string, since: number): AsyncGenerator<Aside, Item<Message>[], void> {
    const all: Item<Message>[] = [];
    for (let before: number | undefined; ; ) {
      const page: Page = yield* this.#hub.page(`/client/sessions/${session}/messages`, { limit: PER_SESSION, before_seq: before });
      const young = page.items.map(itemOf<Message>).filter(({ value }) => Date.parse(value.created_at) >= since);
      all.unshift(...young);
      before = page.next as number | undefined;
      if (before === undefined || young.length < page.items.length) {
        return all;
      }
      if (since === 0) {
        yield { truncated: true, session };
        return all;
      }
    }
  }

  async *#after(session: string, head: number): AsyncGenerator<Delay, Item<Message>[], void> {
    const all: Item<Message>[] = [];
    for (let after: number | undefined = head; after !== undefined; ) {
      const page: Page = yield* this.#hub.page(`/client/sessions/${session}/messages/sync`, { after_seq: after, limit: PAGE_SIZE });
      all.push(...page.items.map(itemOf<Message>));
      after = page.next as number | undefined;
    }
    return all;
  }

  /** The rest of the runs that were under way, and how they ended if they have. */
  async *#standing(tasks: string[], state: Reducer): AsyncGenerator<Told> {
    for (const id of tasks) {
      const raw = yield* forgivable(this.#hub.text(`/web/agent-tasks/${id}`));
      if (raw !== undefined) {
        const task = JSON.parse(raw) as AgentTask;
        yield* this.events({ task_id: task.id, session_id: task.session_id, agent_instance_id: task.agent_id }, state);
        yield* endOf(task);
      }
    }
  }

  /** The questions that are open, and how those stand that were open by what was told before. */
  async *#questions(state: Reducer): AsyncGenerator<Told> {
    const list = yield* forgivable(this.#pages<Prompt>("/client/prompts", { state: "pending" }, MAX_QUESTIONS));
    if (!list) {
      return;
    }
    const open = new Set(list.map(({ value }) => value.request_id));
    for (const { task_id, request_id } of questions(state).filter((known) => !open.has(known.request_id))) {
      const now = yield* forgivable(this.#hub.text(`/web/agent-tasks/${task_id}/approvals/${request_id}`));
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

  async *#pages<T>(path: string, query: Request["query"], limit: number): AsyncGenerator<Delay, Item<T>[], void> {
    const all: Item<T>[] = [];
    for (let after: string | undefined = ""; after !== undefined && all.length < limit; ) {
      const page: Page = yield* this.#hub.page(path, { ...query, limit: LIST_SIZE, after: after || undefined });
      all.push(...page.items.map(itemOf<T>));
      after = page.next as string | undefined;
    }
    return all.slice(0, limit);
  }
}
