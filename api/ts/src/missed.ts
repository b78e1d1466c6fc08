import { type Asker, type Delay, forgivable, type Item, itemOf, type Page } from "./ask.js";
import type { Asked } from "./asked.js";
import type { Reducer } from "./reducer.js";
import type { Message, Session } from "./types.gen.js";
import { wholeMessages } from "./whole.js";

const PAGE_SIZE = 500; // messages
const PER_SESSION = 100; // messages of a conversation that was not heard of before

/** What a feed knows: its state, and of each conversation the newest message and the newest change of a message. */
export interface Known {
  state: Reducer;
  heads: ReadonlyMap<string, number>;
  /** Conversations of which nothing was told that was said before: they were left again too soon. */
  hollow: Set<string>;
  /** Goes on when all that was missed of a conversation was told. */
  changes: Map<string, number>;
}

/** What was missed of one conversation. Whoever was told the messages knows every change up to `through`, if that says so. */
interface Stretch {
  messages: Item<Message>[];
  through?: number;
}

/** Says that older messages of a conversation are left out; see Update.truncated. */
interface Truncation {
  truncated: true;
  session: string;
}

type Aside = Delay | Truncation;

/** Asks a hub for the messages that frames would have told of. */
export class Misser {
  readonly #hub: Asker;

  constructor(hub: Asker) {
    this.#hub = hub;
  }

  /**
   * What was said in conversations and what has become of what was said before, in the order of time. One that is refused was left since they were
   * listed.
   */
  async *missed(sessions: Session[], since: number, known: Known): AsyncGenerator<Asked | Aside> {
    const missed: Item<Message>[] = [];
    const through = new Map<string, number>();
    for (const session of sessions) {
      const news = yield* forgivable(this.#news(session, since, known));
      missed.push(...(news?.messages ?? []));
      if (news?.through !== undefined) {
        through.set(session.id, news.through);
      }
    }
    missed.sort((a, b) => Date.parse(a.value.created_at) - Date.parse(b.value.created_at));
    yield* wholeMessages(missed, known.state);
    through.forEach((number, session) => known.changes.set(session, number));
  }

  /** What was said in one conversation after what was told of it, and what has become of that. */
  async *said(session: string, since: number, known: Known): AsyncGenerator<Asked | Aside> {
    const fetched = known.hollow.has(session) ? this.#newest(session, since) : this.#unheard(session, since, known);
    const news = yield* forgivable(fetched);
    if (news === undefined) {
      known.hollow.add(session);
    } else {
      known.hollow.delete(session);
    }
    yield* wholeMessages(news?.messages ?? [], known.state);
    if (news?.through !== undefined) {
      known.changes.set(session, news.through);
    }
  }

  /** What was missed of a conversation that a list has, or nothing if the list says that there is nothing. */
  async *#news(session: Session, since: number, known: Known): AsyncGenerator<Aside, Stretch, void> {
    const head = known.heads.get(session.id);
    const nothing =
      head === undefined
        ? Date.parse(session.updated_at) < since
        : head >= session.last_seq && (known.changes.get(session.id) ?? 0) === (session.last_change ?? 0);
    return nothing ? { messages: [] } : yield* this.#unheard(session.id, since, known);
  }

  /**
   * What was said in a conversation after what was told of it with what has become of that, or what was said since a time if nothing was told. What
   * came after the newest message that is known is fetched as it is; of what is older than the time nothing is told.
   */
  async *#unheard(session: string, since: number, known: Known): AsyncGenerator<Aside, Stretch, void> {
    const head = known.heads.get(session);
    if (head === undefined) {
      return yield* this.#newest(session, since);
    }
    const later = yield* this.#after(session, head);
    const changed = yield* forgivable(this.#changed(session, known.changes.get(session) ?? 0));
    const before = (changed?.messages ?? []).filter(({ value }) => value.seq_id <= head && Date.parse(value.created_at) >= since);
    return { ...changed, messages: [...before, ...later] };
  }

  /** Pages back to the first message that is not younger than since. Without a since, one page is enough; it tells that there are more. */
  async *#newest(session: string, since: number): AsyncGenerator<Aside, Stretch, void> {
    const all: Item<Message>[] = [];
    let through: number | undefined;
    for (let before: number | undefined; ; ) {
      const page: Page = yield* this.#hub.page(`/client/sessions/${session}/messages`, { limit: PER_SESSION, before_seq: before });
      through ??= page.lastChange;
      const young = page.items.map(itemOf<Message>).filter(({ value }) => Date.parse(value.created_at) >= since);
      all.unshift(...young);
      before = page.next as number | undefined;
      if (before === undefined || young.length < page.items.length) {
        return { messages: all, through };
      }
      if (since === 0) {
        yield { truncated: true, session };
        return { messages: all, through };
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

  /** The messages of a conversation that have changed since a number, as they are now. */
  async *#changed(session: string, known: number): AsyncGenerator<Delay, Stretch, void> {
    const messages: Item<Message>[] = [];
    for (let after = known; ; ) {
      const page: Page = yield* this.#hub.page(`/client/sessions/${session}/messages/changes`, { after_change: after, limit: PAGE_SIZE });
      messages.push(...page.items.map(itemOf<Message>));
      if (page.lastChange < after) {
        after = 0; // it was counted in a record that is no more
      } else if (page.next === undefined) {
        return { messages, through: page.lastChange };
      } else {
        after = page.next as number;
      }
    }
  }
}
