import { LOG_START, type StoredEvent } from '../../../src/kernel/event-sourcing/event-store.js';
import type { InMemoryEventStore } from '../../support/in-memory-event-store.js';

export type Fact = Readonly<{ type: string; data: Readonly<Record<string, unknown>>; stored: StoredEvent }>;

/** The whole log, read independently of the service's code. */
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

  /** The stored frames of a message. */
  journal(messageId: string): readonly StoredEvent[] {
    return (this.byStream.get(`message-${messageId}`) ?? []).map(({ stored }) => stored);
  }

  isDeleted(conversationId: unknown): boolean {
    return this.named('ConversationDeleted').some(({ data }) => data['conversationId'] === conversationId);
  }

  /** What has not ended yet. */
  get open(): readonly string[] {
    const sealed = new Set(this.named('TurnSealed', 'TurnAppended').map(({ data }) => data['turnId']));
    const turns = this.named('TurnAsked').flatMap(({ data }) =>
      sealed.has(data['turnId']) ? [] : [`turn ${String(data['turnId'])}`],
    );
    const over = new Set(this.named('TaskSucceeded', 'TaskFailed').map(({ data }) => data['taskId']));
    const tasks = this.named('DeliveryAccepted').flatMap(({ data }) =>
      over.has(data['taskId']) ? [] : [`task ${String(data['taskId'])}`],
    );
    return [...turns, ...tasks, ...this.openInBackground()];
  }

  /** Background work that has not ended yet. */
  private *openInBackground(): Generator<string> {
    const has = (facts: readonly Fact[], ...types: readonly string[]) => facts.some(({ type }) => types.includes(type));
    for (const [stream, facts] of this.of('schedule')) {
      const begun = facts.filter(({ type }) => type === 'ScheduleRunQueued' || type === 'ScheduleRunRequested').length;
      const ended = facts.filter(({ type }) => type === 'ScheduleRunEnded').length;
      if (begun > ended || !has(facts, 'ScheduleCancelled', 'ScheduleCompleted')) yield stream;
    }
    yield* this.answersKeptFromChats();
    for (const [stream, facts] of this.of('job')) {
      if (!has(facts, 'JobReported', 'JobCancelled')) yield stream;
    }
    for (const [stream, facts] of this.of('monitor')) {
      if (!has(facts, 'MonitorCompleted', 'MonitorCancelled')) yield stream;
    }
    const requested = new Set(this.named('FollowUpRequested').map(({ data }) => String(data['dedupeKey'])));
    for (const { data } of this.named('MonitorFollowUpRequested')) {
      const key = `monitor:${data['monitorId'] as string}:${data['followUp'] as number}`;
      if (!requested.has(key) && !this.isDeleted(data['conversationId'])) yield `follow-up ${key}`;
    }
    for (const { data } of this.named('MonitorCompleted')) {
      const key = `monitor_expired:${data['monitorId'] as string}:end`;
      if (data['isNews'] === true && !requested.has(key) && !this.isDeleted(data['conversationId'])) yield `follow-up ${key}`;
    }
    for (const [stream, facts] of this.of('followUps')) {
      const count = (isOfType: (type: string) => boolean) => facts.filter(({ type }) => isOfType(type)).length;
      const settled = count((type) => type !== 'FollowUpRequested' && type !== 'FollowUpsGathered');
      if (count((type) => type === 'FollowUpRequested') > settled) yield stream;
    }
  }

  private *answersKeptFromChats(): Generator<string> {
    for (const { data } of this.named('ScheduleRunEnded').filter(({ data }) => data['status'] === 'success')) {
      const runId = data['runId'] as string;
      const conversationId = this.byStream.get(`run-${runId}`)?.[0]?.data['conversationId'];
      const isAdded = this.byStream.get(`scheduleRun-${runId}`)?.some(({ type }) => type === 'ScheduledRunAppended');
      if (conversationId !== undefined && !isAdded && !this.isDeleted(conversationId)) yield `what ${runId} said to its chat`;
    }
  }

  private add(stored: StoredEvent): void {
    const fact: Fact = { type: stored.type, data: JSON.parse(stored.data) as Record<string, unknown>, stored };
    this.facts.push(fact);
    const stream = this.byStream.get(stored.stream) ?? [];
    this.byStream.set(stored.stream, stream);
    stream.push(fact);
  }
}
