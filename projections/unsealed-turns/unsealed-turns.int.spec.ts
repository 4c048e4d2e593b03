import { expect, it } from '@jest/globals';
import type { Sql } from 'postgres';
import { conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { turnPaused, waitingCall } from '../../test/support/pauses.js';
import { settings } from '../../test/support/turns.js';
import { inPostgres } from '../../test/contracts/read-models/read-model.subject.js';
import { unsealedTurnsContract } from '../../test/contracts/read-models/unsealed-turns.contract.js';
import { ReadModels } from '../read-models.js';
import { unsealedTurns } from './unsealed-turns.projection.js';
import { UnsealedTurnQueries } from './unsealed-turns.queries.js';

let model: Awaited<ReturnType<typeof inPostgres>>['model'];
let queries: UnsealedTurnQueries;

unsealedTurnsContract(async () => {
  const subject = await inPostgres(unsealedTurns, (readModels) => new UnsealedTurnQueries(readModels));
  ({ model, queries } = subject);
  return subject;
});

it('finds no pause that has expired only by the clock of a process that is far ahead', async () => {
  const tomorrow = Date.now() + 86_400_000;
  const about = { conversationId: 'c-ahead', turnId: 'ahead' };
  const paused = turnPaused(about, [waitingCall('k1')], { expiresAt: new Date(tomorrow).toISOString() });
  const question = { ...about, index: 0, question: 'Why?', requestId: 'r', settings };
  await model.given(conversationStream('c-ahead'), [{ type: 'TurnAsked', data: question }, paused]);
  expect(await queries.expired(new Date(tomorrow + 1), 10)).not.toContainEqual(about);
});

it('finds the turns in which users, and not holders of a key, asked any agent or a certain one', async () => {
  const asked = async (turnId: string, more: Partial<typeof settings>) => {
    const question = { conversationId: turnId, turnId, index: 0, question: 'Why?', requestId: 'r' };
    const event = { type: 'TurnAsked', data: { ...question, settings: { ...settings, ...more } } } as const;
    await model.given(conversationStream(turnId), [event]);
  };
  await asked('of-a', { agentId: 'a' });
  await asked('of-b', { agentId: 'b' });
  await asked('by-key', { agentId: 'a', agentKeyId: 'k' });
  const turn = (agentId: string) => ({ turnId: `of-${agentId}`, conversationId: `of-${agentId}`, agentId });
  expect(await queries.ofSharedAgents('a')).toEqual([turn('a')]);
  expect(await queries.ofSharedAgents()).toEqual([turn('a'), turn('b')]);
});

it('the read model is unchanged by repeated events and the same after a rebuild', async () => {
  await model.again();
  await model.expectSameAfterRebuild();
});

it('sends no statement for no producers and no conversations, as every second of an idle service asks', async () => {
  const none = new UnsealedTurnQueries(
    new ReadModels((() => {
      throw new Error('A statement was sent.');
    }) as unknown as Sql),
  );
  expect(await none.takenBy([], [], 1)).toEqual([]);
  expect(await none.conversationsUnderWay([])).toEqual(new Set());
});
