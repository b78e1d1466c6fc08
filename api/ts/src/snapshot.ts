import { type Asked, endOf, friendship, notification, pick, type RunRef, streamPayload } from "./asked.js";
import { Asker, type Delay, forgivable, type Item, itemOf, type Page } from "./ask.js";
import { notifications, questions } from "./bubble.js";
import type { Clock } from "./clock.js";
import { type Known, Misser } from "./missed.js";
import type { Reducer } from "./reducer.js";
import type { Request, Send } from "./send.js";
import type { AgentTask, Contact, NotificationPayload, Prompt, Session } from "./types.gen.js";
import type { FeedOptions } from "./update.js";

const PAGE_SIZE = 500; // events
const LIST_SIZE = 200; // of conversations or questions on one page
const MAX_SESSIONS = 4000; // in a snapshot
const MAX_QUESTIONS = 4000;

/** What a session.created frame has of a conversation, by the names that REST has for it. */
const CREATED = {
  session_id: "id",
  type: "type",
  name: "name",
  avatar_url: "avatar_url",
  announcement: "announcement",
  info_version: "info_version",
  owner_id: "owner_id",
  members: "members",
  created_at: "created_at",
  pinned: "pinned",
  archived: "archived",
  muted: "muted",
  settings_version: "settings_version",
};

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
  readonly #misser: Misser;
  readonly #options: FeedOptions;

  constructor(send: Send, clock: Clock, options: FeedOptions) {
    this.#hub = new Asker(send, clock, options.signal);
    this.#misser = new Misser(this.#hub);
    this.#options = options;
  }

  /**
   * What a reset has hidden: conversations, messages and what became of them, how the runs stand that were under way, questions, what the user was
   * told, friends. Of conversations that were not heard of before, only messages younger than since.
   */
  async *snapshot(since: number, known: Known, runs: Map<string, RunRef>): AsyncGenerator<Told> {
    const { state } = known;
    const { sessions, all } = yield* this.#sessions();
    if (this.#options.begin !== "live") {
      yield* this.#conversations(sessions, all, state);
    }
    yield* this.#misser.missed(sessions.map(({ value }) => value), since, known);
    yield* this.#standing([...runs.keys()].sort(), state);
    if (this.#options.begin !== "live") {
      yield* this.#questions(state, this.#options.session);
      yield* this.#notices(state);
      yield* this.#friends(state);
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

  /**
   * How one conversation stands and how far its people have read, what was said in it after what was told, what has become of that, and what waits
   * there for an answer. A conversation that is refused was left since.
   */
  async *joined(session: string, since: number, known: Known): AsyncGenerator<Told> {
    const raw = yield* forgivable(this.#hub.resource(`/client/sessions/${session}`, { id: session }));
    if (raw !== undefined) {
      yield* this.#conversation(itemOf<Session>(raw), known.state);
    }
    yield* this.#misser.said(session, since, known);
    yield* this.#questions(known.state, session);
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
    for (const session of sessions) {
      yield* this.#conversation(session, state);
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

  /** How one conversation stands, and how far its people have read. */
  *#conversation({ raw, value }: Item<Session>, state: Reducer): Generator<Told> {
    yield { type: "session.created", raw: pick(raw, CREATED) };
    yield* readMarks(value, state.user);
    if (value.dissolved_at !== undefined) {
      yield { type: "session.dissolved", raw: pick(raw, { session_id: "id", dissolved_at: "dissolved_at" }) };
    }
  }

  /** The rest of the runs that were under way, and how they ended if they have. */
  async *#standing(tasks: string[], state: Reducer): AsyncGenerator<Told> {
    for (const id of tasks) {
      const raw = yield* forgivable(this.#hub.resource(`/web/agent-tasks/${id}`, { id }));
      if (raw !== undefined) {
        const task = JSON.parse(raw) as AgentTask;
        yield* this.events({ task_id: task.id, session_id: task.session_id, agent_instance_id: task.agent_id }, state);
        yield* endOf(task);
      }
    }
  }

  /**
   * The questions that are open in a conversation, in all if it is undefined, and how those stand that were open by what was told before. One that this
   * user may not read any more is forgotten.
   */
  async *#questions(state: Reducer, only: string | undefined): AsyncGenerator<Told> {
    const list = yield* forgivable(this.#pages<Prompt>("/client/prompts", { state: "pending" }, MAX_QUESTIONS));
    if (!list) {
      return;
    }
    const open = new Set(list.map(({ value }) => value.request_id));
    const here = ({ session_id }: Prompt) => only === undefined || session_id === only;
    for (const { task_id, request_id } of questions(state).filter((known) => here(known) && !open.has(known.request_id))) {
      const now = yield* forgivable(this.#hub.resource(`/web/agent-tasks/${task_id}/approvals/${request_id}`, { request_id }));
      if (now !== undefined) {
        list.push(itemOf<Prompt>(now));
      } else {
        state.forget("notification", request_id);
      }
    }
    for (const prompt of list.filter(({ value }) => here(value))) {
      yield { type: "notification.new", raw: notification(prompt) };
    }
  }

  /** The newest of what the user was told besides questions, all that is unread, the oldest first, and that the rest of what was told is read. */
  async *#notices(state: Reducer): AsyncGenerator<Told> {
    const list = yield* forgivable(this.#pages<NotificationPayload>("/client/notifications", {}, MAX_QUESTIONS, { unread: true }));
    if (!list) {
      return;
    }
    const only = this.#options.session;
    for (const { raw, value } of [...list].reverse()) {
      if (value.type !== "prompt" && (only === undefined || value.payload.session_id === only)) {
        yield { type: "notification.new", raw };
      }
    }
    if (list.length === MAX_QUESTIONS) {
      return; // there may be more: nothing can be said of the rest
    }
    const unread = new Set(list.filter(({ value }) => !value.read).map(({ value }) => value.id));
    for (const known of notifications(state)) {
      if (known.type !== "prompt" && !unread.has(known.id)) {
        yield { type: "notification.new", raw: JSON.stringify({ ...known, read: true }) };
      }
    }
  }

  /** Who has asked whom and who are friends; what is no more is forgotten, for a decline and the end of a friendship are told to nobody. */
  async *#friends(state: Reducer): AsyncGenerator<Told> {
    if (this.#options.session !== undefined) {
      return;
    }
    const list = yield* forgivable(this.#hub.page("/client/contacts", {}));
    if (!list) {
      return;
    }
    const contacts = list.items.map((raw) => itemOf<Contact>(raw).value).filter(({ request_id }) => request_id !== undefined);
    for (const contact of contacts) {
      yield* friendship(contact, state.user);
    }
    const of = (some: Contact[]) => new Set(some.map(({ request_id = "" }) => request_id));
    state.retain("friend.request", of(contacts));
    state.retain("friend.accepted", of(contacts.filter((contact) => contact.state === "friend")));
  }

  /** Up to `limit` items of a list. What `later` says narrows the pages behind the first one. */
  async *#pages<T>(path: string, query: Request["query"], limit: number, later: Request["query"] = {}): AsyncGenerator<Delay, Item<T>[], void> {
    const all: Item<T>[] = [];
    for (let after: string | undefined = ""; after !== undefined && all.length < limit; ) {
      const page: Page = yield* this.#hub.page(path, { ...query, ...(after ? later : {}), limit: LIST_SIZE, after: after || undefined });
      all.push(...page.items.map(itemOf<T>));
      after = page.next as string | undefined;
    }
    return all.slice(0, limit);
  }
}

/** How far the people of a conversation have read, and how much this user has not. */
function* readMarks({ id: session_id, last_read_seq, last_seq, last_change, unread, read_marks = [] }: Session, me: string): Generator<Told> {
  const counted = { session_id, user_id: me, last_read_seq, last_seq, last_change, unread };
  const others = read_marks.filter(({ user_id }) => user_id !== me).map((mark) => ({ session_id, ...mark }));
  for (const mark of me === "" ? others : [counted, ...others]) {
    yield { type: "message.read", raw: JSON.stringify(mark) };
  }
}
