import { TaskQueries, type TaskRecord } from '../../../projections/tasks/tasks.queries.js';
import { asJsonb, asText } from '../../../projections/text.js';
import { decode } from '../../../src/kernel/event-sourcing/codec.js';
import type { StoredEvent } from '../../../src/kernel/event-sourcing/event-store.js';
import { taskCodec } from '../../../src/work/tasks/task.codec.js';
import type { TaskEvent, TaskResult } from '../../../src/work/tasks/task.events.js';

type Row = { -readonly [Key in keyof TaskRecord]: TaskRecord[Key] } & { dueAt: Date | null };

type Place = Pick<TaskRecord, 'changedAt' | 'taskId'>;

const inOrder = (one: Place, other: Place): number =>
  one.changedAt.getTime() - other.changedAt.getTime() || (one.taskId < other.taskId ? -1 : Number(one.taskId > other.taskId));

const byOwner = (one: TaskRecord, other: TaskRecord): number =>
  one.ownerId === other.ownerId ? inOrder(one, other) : one.ownerId < other.ownerId ? -1 : 1;

const isUnstarted = ({ status, dueAt }: Row, wanted: 'waiting' | 'queued', now: Date): boolean =>
  status === wanted && (status === 'queued' || (dueAt !== null && dueAt <= now));

/** The read model of tasks, in memory. */
export class TasksTwin extends TaskQueries {
  private readonly rows = new Map<string, Row>();

  constructor() {
    super(undefined as never);
  }

  apply(stored: StoredEvent): void {
    const event = decode<TaskEvent>(taskCodec, stored);
    if (event) this.note(event, stored.at);
  }

  override async byId(taskId: string): Promise<TaskRecord | undefined> {
    const row = this.rows.get(taskId);
    return row && { ...row };
  }

  override async started(limit: number, after?: TaskRecord): Promise<readonly TaskRecord[]> {
    const rows = [...this.rows.values()].filter(({ status }) => status === 'started' || status === 'progressed');
    rows.sort(inOrder);
    const rest = after ? rows.filter((row) => inOrder(row, after) > 0) : rows;
    return rest.slice(0, limit).map((row) => ({ ...row }));
  }

  override async unstarted(now: Date, limit: number): Promise<readonly TaskRecord[]> {
    const due = this.inTurns((row) => isUnstarted(row, 'waiting', now));
    const queued = this.inTurns((row) => isUnstarted(row, 'queued', now));
    return [...due.slice(0, limit), ...queued.slice(0, limit)].map((row) => ({ ...row }));
  }

  override async unstartedAfter(
    after: TaskRecord | undefined,
    status: 'waiting' | 'queued',
    now: Date,
    limit: number,
  ): Promise<readonly TaskRecord[]> {
    const rows = [...this.rows.values()].filter((row) => isUnstarted(row, status, now)).sort(byOwner);
    const rest = after ? rows.filter((row) => byOwner(row, after) > 0) : rows;
    return rest.slice(0, limit).map((row) => ({ ...row }));
  }

  private inTurns(isOne: (row: Row) => boolean): readonly Row[] {
    const rows = [...this.rows.values()].filter(isOne).sort(inOrder);
    const turnOf = new Map<Row, number>();
    const counts = new Map<string, number>();
    for (const row of rows) {
      turnOf.set(row, counts.get(row.ownerId) ?? 0);
      counts.set(row.ownerId, turnOf.get(row)! + 1);
    }
    return rows.sort((one, other) => turnOf.get(one)! - turnOf.get(other)! || inOrder(one, other));
  }

  private note(event: TaskEvent, at: Date): void {
    const { taskId } = event.data;
    const change = (values: Partial<Row>) => Object.assign(this.rows.get(taskId) ?? {}, values, { changedAt: at });
    switch (event.type) {
      case 'TaskQueued': {
        if (this.rows.has(taskId)) break;
        const { kind, ownerId } = event.data;
        const fresh = { status: 'queued', attempt: 0, percent: 0, result: null, reason: null, dueAt: null } as const;
        this.rows.set(taskId, { taskId, kind, ownerId, ...fresh, changedAt: at });
        break;
      }
      case 'TaskStarted':
        change({ status: 'started', attempt: event.data.attempt, percent: 0, dueAt: null, reason: null });
        break;
      case 'TaskProgressed':
        change({ status: 'progressed', percent: event.data.percent });
        break;
      case 'TaskRetryScheduled':
        change({ status: 'waiting', reason: asText(event.data.reason), dueAt: new Date(event.data.dueAt) });
        break;
      case 'TaskRequeued':
        change({ status: 'queued' });
        break;
      case 'TaskSucceeded':
        change({ status: 'succeeded', percent: 100, result: asJsonb(event.data.result) as TaskResult, reason: null });
        break;
      case 'TaskFailed':
        change({ status: 'failed', reason: asText(event.data.reason) });
        break;
      case 'TaskPurged':
        this.rows.delete(taskId);
    }
  }
}
