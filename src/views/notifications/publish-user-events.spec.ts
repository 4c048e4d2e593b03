import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { settings as turnSettings } from '../../../test/support/turns.js';
import { userEventsOptions } from '../../../test/support/user-events.js';
import { LossyStoreForTests, react, reactionOver, record, notificationsOf } from '../../../test/support/user-reactions.js';
import { type ConversationEvent, conversationStream } from '../../dialogue/conversation/conversation.events.js';
import { DEFAULT_SOURCE_CONFIG } from '../../resources/sources/source/source-config.policy.js';
import { type SourceEvent, sourceStream } from '../../resources/sources/source/source.events.js';
import { type TaskEvent, taskStream } from '../../work/tasks/task.events.js';

const marksOf = async (store: InMemoryEventStore, userId: string) =>
  (await notificationsOf(store, userId)).map(({ payload }) => (payload as { mark?: unknown }).mark);

const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false };
const started = (conversationId: string, visibility: 'listed' | 'hidden' = 'listed'): ConversationEvent => ({
  type: 'ConversationStarted',
  data: { conversationId, ownerId: 'ann', agentId: null, name: 'Why?', visibility, sharedUsage: false, history: [] },
});
const turn = (conversationId: string, index: number): ConversationEvent[] => {
  const about = { conversationId, turnId: `${conversationId}-${index}` };
  return [
    { type: 'TurnAsked', data: { ...about, index, question: 'Why?', requestId: 'r', settings: turnSettings } },
    { type: 'TurnStarted', data: { ...about, producer: 'p' } },
    { type: 'TurnAnswered', data: { ...about, ...parts, modelId: 'm', usage: null } },
    { type: 'TurnSealed', data: { ...about, lastId: 3, frames: 4, sha256: 'f' } },
  ];
};
const opened = (conversationId: string): ConversationEvent => ({ type: 'ConversationOpened', data: { conversationId } });

describe('the mark of a conversation', () => {
  const stream = conversationStream('c1');
  const whole = [started('c1'), ...turn('c1', 0), opened('c1'), ...turn('c1', 1)];
  const marks = ['running', 'unread', null, 'running', 'unread'];

  it('is sent only when it changes', async () => {
    const store = new InMemoryEventStore();
    await record(store, stream, ...whole);
    await react(reactionOver(store), store, stream);
    expect(await marksOf(store, 'ann')).toEqual(marks);
  });

  it('is sent once, for any place of a crash and any number of repeated events', async () => {
    for (let diesAfter = 1; diesAfter <= whole.length; diesAfter++) {
      for (let again = 0; again <= diesAfter; again++) {
        const store = new InMemoryEventStore();
        await record(store, stream, ...whole.slice(0, diesAfter));
        await react(reactionOver(store), store, stream);
        if (diesAfter < whole.length) await record(store, stream, ...whole.slice(diesAfter));
        await react(reactionOver(store), store, stream, again);
        expect({ diesAfter, again, told: await marksOf(store, 'ann') }).toEqual({ diesAfter, again, told: marks });
      }
    }
  });

  it('is sent once if the answer of the log is lost before or after the write', async () => {
    for (const when of ['before', 'after'] as const) {
      const store = new LossyStoreForTests(when);
      await record(store, stream, ...whole);
      await react(reactionOver(store), store, stream);
      expect(await marksOf(store, 'ann')).toEqual(marks);
    }
  });

  it('stays correct when another process reacts in between', async () => {
    const store = new InMemoryEventStore();
    const [one, other] = [reactionOver(store), reactionOver(store)];
    await record(store, stream, ...whole.slice(0, 2));
    await react(one, store, stream);
    await record(store, stream, ...whole.slice(2, 6));
    await react(other, store, stream, 2);
    await record(store, stream, ...whole.slice(6));
    await react(one, store, stream, 6);
    expect(await marksOf(store, 'ann')).toEqual(marks);
  });

  it('is not sent if the conversation is not listed', async () => {
    const store = new InMemoryEventStore();
    await record(store, stream, started('c1', 'hidden'), ...turn('c1', 0));
    await react(reactionOver(store), store, stream);
    expect(await notificationsOf(store, 'ann')).toEqual([]);
  });

  it('is cleared when the conversation is deleted', async () => {
    const store = new InMemoryEventStore();
    await record(store, stream, ...whole, { type: 'ConversationDeleted', data: { conversationId: 'c1' } });
    await react(reactionOver(store), store, stream);
    expect(await marksOf(store, 'ann')).toEqual([...marks, null]);
  });
});

describe('an ingestion', () => {
  const about = { sourceId: 's1', ingestId: 'i1' };
  const files = ['a.md', 'b.md'].map((filename) => ({ filename, sha256: 'f', size: 1 }));
  const begun: SourceEvent[] = [
    {
      type: 'SourceCreated',
      data: { sourceId: 's1', ownerId: 'ann', name: 'Guide', config: DEFAULT_SOURCE_CONFIG, remote: null },
    },
    { type: 'SourceIngestRequested', data: { ...about, ownerId: 'ann', files, operation: 'upload' } },
    { type: 'SourceIngestStarted', data: { ...about, chunksId: 'k1' } },
  ];
  const completed: SourceEvent = { type: 'SourceIngestCompleted', data: { ...about, chunksId: 'k1', chunks: 3, tokens: 42 } };
  const queued: TaskEvent = {
    type: 'TaskQueued',
    data: { taskId: 'i1', kind: 'ingest-source', ownerId: 'ann', input: { sourceId: 's1' } },
  };
  const progressed = (percent: number): TaskEvent => ({ type: 'TaskProgressed', data: { taskId: 'i1', attempt: 1, percent } });
  const [source, task] = [sourceStream('s1'), taskStream('i1')];
  const told = { source_id: 's1', job_name: 'Guide', filename: 'a.md, b.md', operation: 'upload' };
  const scope = { kind: 'source', id: 's1' };

  it('is reported when it is queued, progresses and ends', async () => {
    const store = new InMemoryEventStore();
    const reaction = reactionOver(store);
    await record(store, source, ...begun);
    await record(store, task, queued, progressed(25), progressed(50), progressed(75));
    await react(reaction, store, source);
    await react(reaction, store, task);
    await record(store, source, completed);
    await react(reaction, store, source, 3);
    const progress = (current: number, stage: string, files_done: number) => ({
      type: 'source.ingest.progress',
      scope,
      payload: { source_id: 's1', current, total: 2, stage, files_done },
    });
    expect(await notificationsOf(store, 'ann')).toMatchObject([
      { type: 'source.ingest.queued', scope, payload: told },
      progress(25, 'embedding', 0),
      progress(50, 'parsing', 1),
      progress(75, 'embedding', 1),
      { type: 'source.ingest.completed', scope, payload: { ...told, tokens: 42, limited: false } },
    ]);
  });

  it('that has ended reports no progress, even if the events of its task are read later', async () => {
    const store = new InMemoryEventStore();
    const reaction = reactionOver(store);
    await record(store, source, ...begun);
    await record(store, task, queued, progressed(25));
    await record(store, source, completed);
    await react(reaction, store, source);
    await react(reaction, store, task);
    expect((await notificationsOf(store, 'ann')).map(({ type }) => type)).toEqual([
      'source.ingest.queued',
      'source.ingest.completed',
    ]);
  });

  it('that failed reports a reason of limited length, also after its source is deleted', async () => {
    const store = new InMemoryEventStore();
    await record(store, source, ...begun, { type: 'SourceIngestFailed', data: { ...about, reason: 'No. '.repeat(1_000) } });
    await record(store, source, { type: 'SourceDeleted', data: { sourceId: 's1' } });
    await react(reactionOver(store), store, source);
    const [, failed] = await notificationsOf(store, 'ann');
    expect(failed).toMatchObject({ type: 'source.ingest.failed', scope, payload: told });
    expect((failed!.payload as { error: string }).error).toHaveLength(1_024);
  });
});

it('tasks that are not ingestions cause no notifications', async () => {
  const store = new InMemoryEventStore();
  const task = taskStream('t1');
  await record(
    store,
    task,
    { type: 'TaskQueued', data: { taskId: 't1', kind: 'other', ownerId: 'ann', input: {} } },
    { type: 'TaskProgressed', data: { taskId: 't1', attempt: 1, percent: 50 } },
  );
  await react(reactionOver(store), store, task);
  expect(await notificationsOf(store, 'ann')).toEqual([]);
});

it('nothing is published if publishing is disabled', async () => {
  const store = new InMemoryEventStore();
  await record(store, conversationStream('c1'), started('c1'), ...turn('c1', 0));
  await react(reactionOver(store, userEventsOptions({ pushEnabled: false })), store, conversationStream('c1'));
  expect(await notificationsOf(store, 'ann')).toEqual([]);
});
