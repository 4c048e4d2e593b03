import { LOG_START, type StoredEvent } from '../../../src/kernel/event-store.js';
import type { InMemoryEventStore } from '../../support/in-memory-event-store.js';

export type Fact = Readonly<{ type: string; data: Readonly<Record<string, unknown>>; stored: StoredEvent }>;

/** The whole log, as somebody reads it who trusts nothing else. */
export class LogView {
  readonly facts: Fact[] = [];
  readonly byStream = new Map<string, Fact[]>();
  private position = LOG_START;

  constructor(private readonly store: InMemoryEventStore) {}

  async refresh(): Promise<this> {
    for await (const page of this.store.readAll({ after: this.position })) {
      for (const stored of page.events) this.add(stored);
      this.position = page.position;
    }
    return this;
  }

  of(category: string): [string, readonly Fact[]][] {
    return [...this.byStream].filter(([stream]) => stream.startsWith(`${category}-`));
  }

  named(...types: readonly string[]): readonly Fact[] {
    return this.facts.filter(({ type }) => types.includes(type));
  }

  /** The frames of a message as they were stored. */
  journal(messageId: string): readonly StoredEvent[] {
    return (this.byStream.get(`message-${messageId}`) ?? []).map(({ stored }) => stored);
  }

  /** What is still to be brought to its end. */
  get open(): readonly string[] {
    const sealed = new Set(this.named('TurnSealed', 'TurnAppended').map(({ data }) => data['turnId']));
    const turns = this.named('TurnAsked').flatMap(({ data }) =>
      sealed.has(data['turnId']) ? [] : [`turn ${String(data['turnId'])}`],
    );
    const over = new Set(this.named('TaskSucceeded', 'TaskFailed').map(({ data }) => data['taskId']));
    const tasks = this.named('DeliveryAccepted').flatMap(({ data }) =>
      over.has(data['taskId']) ? [] : [`task ${String(data['taskId'])}`],
    );
    return [...turns, ...tasks];
  }

  private add(stored: StoredEvent): void {
    const fact: Fact = { type: stored.type, data: JSON.parse(stored.data) as Record<string, unknown>, stored };
    this.facts.push(fact);
    const stream = this.byStream.get(stored.stream) ?? [];
    this.byStream.set(stored.stream, stream);
    stream.push(fact);
  }
}
