import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projecting } from '../../test/support/projecting.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { turnPaused, turnResumed, turnUnresumed, waitingCall } from '../../test/support/pauses.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { conversationStream, type ConversationEvent } from '../../src/dialogue/conversation/conversation.events.js';
import { workflowRunIdOf } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { ReadModels } from '../read-models.js';
import { conversations } from './conversations.projection.js';
import { ConversationQueries, TURNS_AT_ONCE } from './conversations.queries.js';

const settings = turnSettings({ agentKeyId: 'k1' });
const parts = (answer: string) => ({
  answer,
  thought: 'hm',
  sources: [{ text: 't', title: 'T', source: 's', filename: 'f' }],
  toolCalls: [],
  structured: false,
});

const started = (
  conversationId: string,
  name: string,
  more: { ownerId?: string; visibility?: 'listed' | 'hidden' } = {},
): ConversationEvent => ({
  type: 'ConversationStarted',
  data: { conversationId, ownerId: 'alice', agentId: 'a1', name, visibility: 'listed', sharedUsage: false, history: [], ...more },
});
const asked = (conversationId: string, turnId: string, question: string, index = 0): ConversationEvent => ({
  type: 'TurnAsked',
  data: { conversationId, turnId, index, question, requestId: 'r', settings },
});
const answered = (conversationId: string, turnId: string, answer: string): ConversationEvent => ({
  type: 'TurnAnswered',
  data: { conversationId, turnId, ...parts(answer), modelId: 'offline', usage: null },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: ConversationQueries;
const given = (id: string, ...events: ConversationEvent[]) => model.given(conversationStream(id), events);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(conversations, database.sql);
  queries = new ConversationQueries(new ReadModels(database.sql));
  await given('c1', started('c1', 'First'), asked('c1', 't1', 'What is 50% of 100_000?'), answered('c1', 't1', 'It is half.\0'));
  await given('c2', started('c2', 'Second'), asked('c2', 't2', 'Why?'), {
    type: 'TurnFailed',
    data: { conversationId: 'c2', turnId: 't2', ...parts('So f'), error: 'Busy.', code: null },
  });
  await given('c3', started('c3', 'Hidden', { visibility: 'hidden' }), asked('c3', 't3', 'half?'));
  await given('c4', started('c4', 'Of Bob', { ownerId: 'bob' }), asked('c4', 't4', 'half?'));
  await given('c5', started('c5', 'Gone'), asked('c5', 't5', 'half?'), {
    type: 'ConversationDeleted',
    data: { conversationId: 'c5' },
  });
});
afterAll(() => database.close());

describe('the sidebar', () => {
  it('lists the listed conversations of the user, newest first', async () =>
    expect((await queries.listed('alice', 10)).map(({ id, name }) => [id, name])).toEqual([
      ['c2', 'Second'],
      ['c1', 'First'],
    ]));
  it('continues after the end of a page', async () => {
    const [first] = await queries.listed('alice', 1);
    expect((await queries.listed('alice', 10, { before: first!.date, beforeId: first!.id })).map(({ id }) => id)).toEqual(['c1']);
  });
});

it('the owners of several conversations are found, without those of missing ones', async () => {
  expect(await queries.ownersOf(['c1', 'missing', 'c2'])).toEqual(
    new Map([
      ['c1', 'alice'],
      ['c2', 'alice'],
    ]),
  );
  expect(await queries.ownersOf([])).toEqual(new Map());
});

describe('a whole conversation', () => {
  it('has its answers and, for a failed one, its partial text and the error', async () => {
    expect(await queries.withTurns('alice', 'c1')).toMatchObject({
      agent_id: 'a1',
      queries: [{ prompt: 'What is 50% of 100_000?', response: 'It is half.\uFFFD', status: 'complete', message_id: 't1' }],
    });
    expect(await queries.withTurns('alice', 'c2')).toMatchObject({
      queries: [{ response: 'So f', status: 'failed', metadata: { error: 'Busy.' } }],
    });
  });
  it('names the attachments of a question that has some', async () => {
    const attachments = [{ id: 'a1', filename: 'menu \0.pdf', mimeType: 'application/pdf' }];
    const question = { conversationId: 'c9', turnId: 't9', index: 0, question: 'What is it?', requestId: 'r' };
    const withFile: ConversationEvent = { type: 'TurnAsked', data: { ...question, settings: { ...settings, attachments } } };
    await given('c9', started('c9', 'With a file'), withFile, asked('c9', 't10', 'And?', 1));
    const { queries: turns } = (await queries.withTurns('alice', 'c9'))!;
    expect(turns[0]).toMatchObject({ attachments: [{ id: 'a1', fileName: 'menu \uFFFD.pdf' }] });
    expect(turns[1]).not.toHaveProperty('attachments');
  });
  it('names the workflow run of a question that is answered by a workflow', async () => {
    const question = { conversationId: 'c11', turnId: 't11', index: 0, question: 'Which?', requestId: 'r' };
    const flow: ConversationEvent = {
      type: 'TurnAsked',
      data: { ...question, settings: { ...settings, workflow: { id: 'w1', version: 1 } } },
    };
    await given('c11', started('c11', 'By a workflow'), flow, asked('c11', 't12', 'And?', 1));
    const { queries: turns } = (await queries.withTurns('alice', 'c11'))!;
    expect(turns[0]).toMatchObject({ workflow_run_id: workflowRunIdOf('t11') });
    expect(turns[1]).not.toHaveProperty('workflow_run_id');
  });
  it('shows a replacing turn and not the superseded one', async () => {
    await given('c6', started('c6', 'Edited'), asked('c6', 't6', 'Why?'), answered('c6', 't6', 'So.'));
    await given('c6', { type: 'TurnsSuperseded', data: { conversationId: 'c6', fromIndex: 0 } }, asked('c6', 't7', 'Why not?'));
    expect((await queries.withTurns('alice', 'c6'))!.queries.map((query) => query.prompt)).toEqual(['Why not?']);
  });
  it('has its turns in pages if it is long, also behind a link', async () => {
    const turnIds = Array.from({ length: 2 * TURNS_AT_ONCE + 1 }, (_, at) => `long-${at}`);
    const turns = turnIds.flatMap((id, at) => [asked('c10', id, `Question ${at}`, at), answered('c10', id, 'So.')]);
    await given('c10', started('c10', 'Long'), ...turns);
    const { pages, queries: beginning } = (await queries.withTurns('alice', 'c10'))!;
    const read: string[][] = [];
    for await (const page of pages!()) read.push(page.map((query) => query.message_id));
    expect([read.flat(), read.map((page) => page.length)]).toEqual([turnIds, [TURNS_AT_ONCE, TURNS_AT_ONCE, 1]]);
    expect(beginning.length).toBeLessThanOrEqual(TURNS_AT_ONCE + 1);
    expect((await queries.withTurns('alice', 'c1'))!.pages).toBeUndefined();
  });
  it('is not found by other users or after its deletion', async () =>
    expect([
      await queries.withTurns('bob', 'c1'),
      await queries.withTurns('alice', 'c5'),
      await queries.conversationOf('t5'),
    ]).toEqual([undefined, undefined, undefined]));
});

describe('a paused turn', () => {
  const about = { conversationId: 'c7', turnId: 't8' };
  const done = { tool_name: 'brave', call_id: 'k0', action_name: 'find', arguments: {}, status: 'completed', result: 'ok' };
  const waiting = (call_id: string, status: string) => ({
    tool_name: 'api_tool',
    call_id,
    action_name: 'send',
    arguments: { to: 'bob' },
    status,
  });
  const query = async () => (await queries.withTurns('alice', 'c7'))!.queries[0]!;

  it('shows its answer so far, and the waiting calls with their status', async () => {
    const calls = [waitingCall('k1'), waitingCall('k2', 'requires_client_execution')];
    const sofar = { ...parts('Let me\0'), toolCalls: [done] };
    await given('c7', started('c7', 'Paused'), asked('c7', 't8', 'Send it.'), turnPaused(about, calls, sofar));
    const { thought, sources } = parts('');
    const shown = {
      status: 'streaming',
      response: 'Let me\uFFFD',
      thought,
      sources,
      tool_calls: [done, waiting('k1', 'awaiting_approval'), waiting('k2', 'requires_client_execution')],
    };
    expect(await query()).toMatchObject(shown);
    expect(await queries.messageTail('t8')).toMatchObject({ ...shown, error: null });
  });
  it('keeps its answer after it resumes, without waiting calls', async () => {
    await given('c7', ...turnResumed(about, 'k1', 'k2'));
    expect(await query()).toMatchObject({ status: 'streaming', response: 'Let me\uFFFD', tool_calls: [done] });
    await given('c7', { type: 'TurnRequeued', data: { ...about, producer: 'p' } });
    expect(await query()).toMatchObject({ status: 'streaming' });
  });
  it('is complete after its pause has expired', async () => {
    await given('c7', turnPaused(about, [waitingCall('k3')]), ...turnUnresumed(about, 'expired', 'k3'));
    expect(await query()).toMatchObject({ status: 'complete', response: 'Let me', tool_calls: [] });
  });
});

describe('an automatic turn', () => {
  const [source, refId, dedupeKey] = ['job', 'j1', 'job:j1'];
  const automatic = (turnId: string, index: number): ConversationEvent => ({
    type: 'TurnAsked',
    data: {
      conversationId: 'c8',
      turnId,
      index,
      question: 'It is done.',
      requestId: 'r',
      settings,
      origin: { kind: 'follow-up', source, refId, dedupeKey },
    },
  });
  const appended = (turnId: string, index: number): ConversationEvent => ({
    type: 'TurnAppended',
    data: {
      ...{
        conversationId: 'c8',
        turnId,
        index,
        question: 'Water the plants.\0',
        requestId: 'r',
        ...parts('Done.'),
        modelId: 'offline',
      },
      origin: { kind: 'schedule', scheduleId: 's1', runId: 'r1', scheduledFor: '2026-01-01T00:00:00.000Z' },
      ...{ lastId: 5, frames: 6, sha256: 'ab' },
    },
  });
  const records = async () => (await queries.withTurns('alice', 'c8'))!.queries;

  it('names its origin and is unread', async () => {
    await given('c8', started('c8', 'By itself'), asked('c8', 't80', 'Do it.'), answered('c8', 't80', 'Doing.'));
    await given('c8', { type: 'ConversationOpened', data: { conversationId: 'c8' } }, appended('t81', 1));
    const metadata = { scheduled: true, schedule_id: 's1', run_id: 'r1', scheduled_run_at: '2026-01-01T00:00:00.000Z' };
    expect((await records())[1]).toMatchObject({
      ...{ prompt: 'Water the plants.\uFFFD', response: 'Done.', status: 'complete', model_id: 'offline', message_id: 't81' },
      metadata,
    });
    expect((await queries.listed('alice', 100)).find(({ id }) => id === 'c8')).toMatchObject({ mark: 'unread', unread: true });
    expect(await queries.conversationOf('t81')).toEqual({ conversationId: 'c8', expired: true });
    await given('c8', automatic('t82', 2));
    const wake = { source, ref_id: refId, dedupe_key: dedupeKey };
    expect((await records())[2]).toMatchObject({ prompt: 'It is done.', status: 'pending', metadata: { wake } });
  });

  it('gives its index to the later turns when it is withdrawn', async () => {
    await given('c8', asked('c8', 't83', 'And?', 3), answered('c8', 't83', 'So.'));
    await given('c8', { type: 'TurnWithdrawn', data: { conversationId: 'c8', turnId: 't82' } }, answered('c8', 't82', ''));
    expect((await records()).map(({ message_id: id }) => id)).toEqual(['t80', 't81', 't83']);
    const [{ index }] = await database.sql<[{ index: number }]>`select index from conversations.turn where turn_id = 't83'`;
    expect(index).toBe(2);
  });
});

describe('the mark', () => {
  const about = (id: string, turnId: string) => ({ conversationId: id, turnId, ...parts('So.') });
  const failed = (id: string, turnId: string): ConversationEvent => ({
    type: 'TurnFailed',
    data: { ...about(id, turnId), error: 'Busy.', code: null },
  });
  const stopped = (id: string, turnId: string): ConversationEvent => ({ type: 'TurnStopped', data: about(id, turnId) });
  const opened = (id: string): ConversationEvent => ({ type: 'ConversationOpened', data: { conversationId: id } });
  const markOf = async (id: string) => {
    const found = (await queries.listed('carol', 100)).find((each) => each.id === id)!;
    return [found.mark, found.unread];
  };
  const begun = (id: string) => started(id, `Name of ${id}`, { ownerId: 'carol' });

  it('changes from running to unread, and is cleared when the conversation is opened', async () => {
    await given('m1', begun('m1'));
    expect(await markOf('m1')).toEqual([null, false]);
    await given('m1', asked('m1', 'm1-1', 'Why?'));
    expect(await markOf('m1')).toEqual(['running', false]);
    await given('m1', answered('m1', 'm1-1', 'So.'));
    expect(await markOf('m1')).toEqual(['unread', true]);
    await given('m1', opened('m1'));
    expect(await markOf('m1')).toEqual([null, false]);
    await given('m1', asked('m1', 'm1-2', 'And?', 1), stopped('m1', 'm1-2'));
    expect(await markOf('m1')).toEqual([null, false]);
  });

  it('is failed before all other marks while the last turn has an unseen failure', async () => {
    await given('m2', begun('m2'), asked('m2', 'm2-1', 'Why?'), answered('m2', 'm2-1', 'So.'));
    await given('m2', asked('m2', 'm2-2', 'And?', 1), asked('m2', 'm2-3', 'Well?', 2), failed('m2', 'm2-3'));
    expect(await markOf('m2')).toEqual(['failed', true]);
    await given('m2', opened('m2'));
    expect(await markOf('m2')).toEqual(['running', false]);
    await given('m2', failed('m2', 'm2-2'));
    expect(await markOf('m2')).toEqual([null, true]);
  });

  it('ignores superseded turns', async () => {
    await given('m3', begun('m3'), asked('m3', 'm3-1', 'Why?'), failed('m3', 'm3-1'));
    await given('m3', { type: 'TurnsSuperseded', data: { conversationId: 'm3', fromIndex: 0 } }, asked('m3', 'm3-2', 'Why not?'));
    expect(await markOf('m3')).toEqual(['running', false]);
    await given('m3', answered('m3', 'm3-2', 'So.'));
    expect(await markOf('m3')).toEqual(['unread', true]);
  });

  it('is approval while a call waits for one, and none while only the client’s own code has to run', async () => {
    const turn = (turnId: string) => ({ conversationId: 'm4', turnId });
    await given('m4', begun('m4'), asked('m4', 'm4-1', 'Send it.'), turnPaused(turn('m4-1'), [waitingCall('k1')]));
    expect(await markOf('m4')).toEqual(['approval', false]);
    await given('m4', ...turnResumed(turn('m4-1'), 'k1'));
    expect(await markOf('m4')).toEqual(['running', false]);
    await given('m4', turnPaused(turn('m4-1'), [waitingCall('k2', 'requires_client_execution')]));
    expect(await markOf('m4')).toEqual([null, false]);
    await given('m4', ...turnUnresumed(turn('m4-1'), 'expired', 'k2'));
    expect(await markOf('m4')).toEqual(['unread', true]);
  });
});

it('the read model is unchanged by repeated events and the same after a rebuild', async () => {
  await model.again();
  await model.expectSameAfterRebuild();
});

it('an answer is shown with characters replaced that Postgres cannot store', async () => {
  const odd = {
    ...parts('a\0'),
    sources: [{ text: 't\0', title: 'T', source: 's', filename: 'f' }],
    toolCalls: [{ call_id: 'k', result: { ['key\0']: 'v\0', half: '\ud800' } }],
  };
  const call = { ...waitingCall('k2'), arguments: { text: 'x\0' } };
  const paused = turnPaused({ conversationId: 'nul', turnId: 'nul-2' }, [call]);
  await given('nul', started('nul', 'Nul', { ownerId: 'nul' }), asked('nul', 'nul-1', 'half?'), {
    type: 'TurnAnswered',
    data: { conversationId: 'nul', turnId: 'nul-1', ...odd, modelId: 'offline', usage: null },
  });
  await given('nul', asked('nul', 'nul-2', 'half?', 1), paused);
  const rows = await database.sql`
    select sources::text || tool_calls::text || pending::text as text from conversations.turn where conversation_id = 'nul' order by index`;
  for (const { text } of rows) expect(text).not.toMatch(/\\u0000|\\ud800/);
  expect(rows[0]!['text']).toContain('"result":{"key\uFFFD":"v\uFFFD","half":"\uFFFD"}');
  await model.again();
  await model.expectSameAfterRebuild();
});
