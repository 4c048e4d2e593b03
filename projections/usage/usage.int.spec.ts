import { beforeEach, describe, expect, it } from '@jest/globals';
import { turnSettings } from '../../test/support/turn-settings.js';
import { type ConversationEvent, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { at, date, ofAgent, parts, projectUsage, usageModel, used } from '../../test/support/usage-models.js';

type Asking = Readonly<{ id: string; owner?: string; agent?: string | null; key?: string | null }>;

/** A conversation with one turn, which has the same id. */
async function asked(time: string, { id, owner = 'ann', agent = 'helper', key = 'key' }: Asking): Promise<void> {
  const settings = turnSettings({ agentId: agent, agentKeyId: key });
  const start = { ownerId: owner, agentId: agent, name: 'x', visibility: 'listed', sharedUsage: false, history: [] } as const;
  const turn = { turnId: id, index: 0, question: 'Why?', requestId: 'r', settings };
  await told(time, id, { type: 'ConversationStarted', data: { conversationId: id, ...start } });
  await told(time, id, { type: 'TurnAsked', data: { conversationId: id, ...turn } });
}
const told = (time: string, id: string, event: ConversationEvent) =>
  usageModel.model.given(conversationStream(id), [event], at(time));
const about = (id: string) => ({ conversationId: id, turnId: id, ...parts });
const answered = (time: string, id: string, tokens: ReturnType<typeof used> | null) =>
  told(time, id, { type: 'TurnAnswered', data: { ...about(id), modelId: 'm', usage: tokens } });
const failed = (time: string, id: string, tokens?: ReturnType<typeof used>) =>
  told(time, id, { type: 'TurnFailed', data: { ...about(id), error: 'x', code: null, ...(tokens && { usage: tokens }) } });
const stopped = (time: string, id: string, tokens: ReturnType<typeof used>) =>
  told(time, id, { type: 'TurnStopped', data: { ...about(id), usage: tokens } });
const paused = (time: string, id: string, tokens: ReturnType<typeof used>) =>
  told(time, id, {
    type: 'TurnPaused',
    data: {
      ...about(id),
      calls: [],
      expiresAt: '2026-11-30T00:00:00Z',
      lastId: 1,
      modelId: 'm',
      usage: tokens,
      continuation: { text: '{}' },
    },
  });

const since = async (time: string) => {
  const { requests, tokens } = await ofAgent(time);
  return [requests, tokens];
};

projectUsage();

describe('the usage of an agent', () => {
  it('counts a request when it is made and its tokens when they are reported', async () => {
    await asked('20T10:15:00', { id: 'a' });
    expect(await since('20T10:00:00')).toEqual([1, 0]);
    await answered('20T11:20:00', 'a', used(30, 12));
    expect(await since('20T10:00:00')).toEqual([1, 42]);
    expect(await since('20T10:30:00')).toEqual([0, 42]);
    expect(await since('20T11:30:00')).toEqual([0, 0]);
  });

  it('counts uses after a time to the millisecond, without those at that time', async () => {
    await asked('20T10:00:00.000', { id: 'on-the-hour' });
    await asked('20T10:59:59.999', { id: 'end-of-hour' });
    await asked('20T11:00:00.000', { id: 'next-hour' });
    const requests = async (time: string) => (await ofAgent(time)).requests;
    expect(await requests('20T09:59:59.999')).toBe(3);
    expect(await requests('20T10:00:00.000')).toBe(2);
    expect(await requests('20T10:59:59.998')).toBe(2);
    expect(await requests('20T10:59:59.999')).toBe(1);
    expect(await requests('20T11:00:00.000')).toBe(0);
  });

  it('counts the increase at each end of a run once, including pauses, failures and stops', async () => {
    await asked('20T10:00:00', { id: 'a' });
    await paused('20T10:10:00', 'a', used(100, 10));
    await answered('20T12:10:00', 'a', used(150, 30));
    expect(await since('20T09:00:00')).toEqual([1, 180]);
    expect(await since('20T10:20:00')).toEqual([0, 70]);
    await asked('20T12:30:00', { id: 'b' });
    await failed('20T12:31:00', 'b', used(5, 0));
    await asked('20T12:40:00', { id: 'c' });
    await stopped('20T12:41:00', 'c', used(7, 1));
    expect(await since('20T12:20:00')).toEqual([2, 13]);
  });

  it('is unchanged by an end without usage', async () => {
    await asked('20T10:00:00', { id: 'a' });
    await paused('20T10:10:00', 'a', used(100, 10));
    await answered('20T10:20:00', 'a', null);
    await asked('20T10:30:00', { id: 'b' });
    await failed('20T10:31:00', 'b');
    expect(await since('20T09:00:00')).toEqual([2, 110]);
  });

  it('counts questions of signed-in users, and none to other agents or without an agent', async () => {
    await asked('20T10:00:00', { id: 'signed-in', key: null });
    await asked('20T10:00:00', { id: 'other', agent: 'other' });
    await asked('20T10:00:00', { id: 'none', agent: null, key: null });
    await answered('20T10:01:00', 'signed-in', used(3, 4));
    for (const id of ['other', 'none']) await answered('20T10:01:00', id, used(1000, 1000));
    expect(await since('20T09:00:00')).toEqual([1, 7]);
    expect(await since('20T09:30:00')).toEqual([1, 7]);
  });

  it('stays when the conversation is deleted', async () => {
    await asked('20T10:00:00', { id: 'a' });
    await answered('20T10:01:00', 'a', used(1, 2));
    await told('20T10:02:00', 'a', { type: 'ConversationDeleted', data: { conversationId: 'a' } });
    expect(await since('20T09:00:00')).toEqual([1, 3]);
  });

  it('names the turns that it has counted', async () => {
    await asked('20T10:00:00', { id: 'a' });
    expect((await ofAgent('20T09:00:00', ['a', 'b'])).known).toEqual(['a']);
  });
});

describe('the time since which an amount was used', () => {
  const reached = async (unit: 'requests' | 'tokens', amount: number) =>
    (await usageModel.queries.reachedAt({ agentId: 'helper' }, unit, amount, date('20T10:00:00')))?.toISOString().slice(8, -5);

  beforeEach(async () => {
    await asked('20T10:10:00', { id: 'a' });
    await asked('20T10:20:00', { id: 'b' });
    await asked('20T10:20:00', { id: 'c' });
    await asked('20T13:00:00', { id: 'd' });
    await answered('20T10:30:00', 'a', used(10, 0));
    await answered('20T10:40:00', 'b', used(20, 5));
    await answered('20T13:05:00', 'd', used(3, 4));
    await asked('20T14:00:00', { id: 'other', agent: 'other' });
    await answered('20T14:00:00', 'other', used(1000, 0));
  });

  it.each([
    [1, '20T13:00:00'],
    [2, '20T10:20:00'],
    [3, '20T10:20:00'],
    [4, '20T10:10:00'],
    [5, undefined],
  ])('%d requests', async (amount, time) => expect(await reached('requests', amount)).toBe(time));

  it.each([
    [7, '20T13:05:00'],
    [8, '20T10:40:00'],
    [32, '20T10:40:00'],
    [33, '20T10:30:00'],
    [43, undefined],
  ])('%d tokens', async (amount, time) => expect(await reached('tokens', amount)).toBe(time));
});

it('the usage equals a plain count for all windows and amounts', async () => {
  const start = date('20T00:00:00').getTime();
  const minute = (number: number) => new Date(start + number * 60_000);
  const moments = Array.from({ length: 120 }, (_, index) => ({ minute: (index * 37) % 480, tokens: (index * 13) % 29 }));
  moments.sort((a, b) => a.minute - b.minute);
  for (const [index, { minute: number, tokens }] of moments.entries()) {
    const time = minute(number).toISOString().slice(8, 19);
    await asked(time, { id: `t${index}` });
    await answered(time, `t${index}`, used(tokens, 0));
  }
  for (let number = -1; number <= 481; number += 7) {
    const left = moments.filter((moment) => moment.minute > number);
    const tokens = left.reduce((sum, moment) => sum + moment.tokens, 0);
    expect(await usageModel.queries.used({ agentId: 'helper' }, minute(number), [])).toEqual({
      requests: left.length,
      tokens,
      known: [],
    });
    const [half, newestFirst] = [Math.ceil(tokens / 2), [...left].reverse()];
    let sum = 0;
    const reached = tokens > 0 ? newestFirst.find((moment) => (sum += moment.tokens) >= half) : undefined;
    if (tokens > 0)
      expect(await usageModel.queries.reachedAt({ agentId: 'helper' }, 'tokens', half, minute(number))).toEqual(
        minute(reached!.minute),
      );
  }
});

it('an amount that was reached before the given time is not found', async () => {
  await asked('20T10:10:00', { id: 'a' });
  await asked('20T10:20:00', { id: 'b' });
  await asked('20T11:00:00', { id: 'c' });
  const reached = (amount: number) =>
    usageModel.queries.reachedAt({ agentId: 'helper' }, 'requests', amount, date('20T10:10:00'));
  expect([await reached(2), await reached(3)]).toEqual([date('20T10:20:00'), undefined]);
});

it('an owner is charged for direct questions and for all questions to agents since an hour', async () => {
  await asked('19T23:59:59', { id: 'before' });
  await asked('20T00:00:00', { id: 'direct', agent: null, key: null });
  await answered('20T00:00:01', 'direct', used(1, 2));
  await asked('20T00:00:00', { id: 'own-agent', key: null });
  await answered('20T00:00:01', 'own-agent', used(10, 20));
  await asked('21T00:00:00', { id: 'key' });
  await answered('21T00:00:01', 'key', used(100, 200));
  await asked('20T00:00:00', { id: 'of-bob', owner: 'bob' });
  await answered('20T00:00:01', 'of-bob', used(1000, 2000));
  expect(await usageModel.queries.ofOwner('ann', date('20T00:00:00'))).toEqual({
    direct: { requests: 1, tokens: 3 },
    agent: { requests: 2, tokens: 330 },
  });
  expect(await usageModel.queries.ofOwner('nobody', date('20T00:00:00'))).toEqual({
    direct: { requests: 0, tokens: 0 },
    agent: { requests: 0, tokens: 0 },
  });
});
