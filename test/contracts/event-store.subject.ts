import {
  type EventStore,
  LOG_START,
  type LogFilter,
  type LogPage,
  type NewEvent,
  type StoredEvent,
} from '../../src/kernel/event-sourcing/event-store.js';
import { newId } from '../../src/kernel/ids.js';

/** A store that is held to the contract, and what a test can do to it from outside. */
export type Subject = Readonly<{
  store: EventStore;
  close(): Promise<void>;
  /** Stops the store, which cuts every connection, and starts it again with all acknowledged events. */
  restart?(): Promise<void>;
  /** Deletes a stream permanently, by means outside the port. */
  bury?(stream: string): Promise<void>;
  /** The number of events that the store's side has sent to readers. */
  delivered?(): Promise<number>;
}>;

/** The optional abilities of the subject. Tests that need one exist only if the subject has it. */
export type Abilities = Readonly<{ restart?: true; bury?: true; delivered?: true }>;

/** A timeout that only a defect exceeds. */
export const PATIENCE_MS = 60_000;

export const newCategory = (): string => `c${newId().replaceAll('-', '')}`;
export const newStream = (category = newCategory()): string => `${category}-${newId()}`;

export const newEvent = (over: Partial<NewEvent> = {}): NewEvent => ({
  id: newId(),
  type: 'SomethingHappened',
  data: '{"what":"something"}',
  metadata: '{"actor":"user:1"}',
  ...over,
});

export const newEvents = (count: number): NewEvent[] =>
  Array.from({ length: count }, (_, index) => newEvent({ data: JSON.stringify({ index }) }));

export const ids = (events: readonly Pick<NewEvent, 'id'>[]): string[] => events.map(({ id }) => id);
export const revisions = (events: readonly StoredEvent[]): number[] => events.map(({ revision }) => revision);
export const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

export async function allOf<Page>(pages: AsyncIterable<Page>): Promise<Page[]> {
  const all: Page[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

/** The events of all pages of a stream. */
export const eventsOf = async (pages: AsyncIterable<readonly StoredEvent[]>): Promise<StoredEvent[]> =>
  (await allOf(pages)).flat();

/** All pages of the log after a position, and their events. */
export async function readLog(store: EventStore, after = LOG_START, filter: LogFilter = {}, limit?: number) {
  const pages: LogPage[] = [];
  for await (const page of store.readAll({ after, filter, ...(limit === undefined ? {} : { limit }) })) pages.push(page);
  return { pages, events: pages.flatMap(({ events }) => events) };
}

/** Resolves once the condition holds. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited ${PATIENCE_MS} ms in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A running follower of the log. It takes every page until it is stopped. */
export class Following {
  readonly pages: LogPage[] = [];
  readonly events: StoredEvent[] = [];
  private readonly stopping = new AbortController();
  private readonly done: Promise<void>;
  private failure: unknown;

  constructor(store: EventStore, after: bigint, filter: LogFilter = {}) {
    const pages = store.followAll(after, filter, this.stopping.signal);
    this.done = this.take(pages).catch((error: unknown) => void (this.failure = error));
  }

  async until(condition: (following: this) => boolean, what: string): Promise<this> {
    await eventually(() => {
      if (this.failure) throw this.failure as Error;
      return condition(this);
    }, what);
    return this;
  }

  count(events: number): Promise<this> {
    return this.until(() => this.events.length >= events, `${events} events (there are ${this.events.length})`);
  }

  /** Aborts, waits for the iterable to end, and throws its error if it failed. */
  async stop(): Promise<this> {
    this.stopping.abort();
    await this.done;
    if (this.failure) throw this.failure as Error;
    return this;
  }

  private async take(pages: AsyncIterable<LogPage>): Promise<void> {
    for await (const page of pages) {
      this.pages.push(page);
      this.events.push(...page.events);
    }
  }
}
