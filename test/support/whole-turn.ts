import { expect } from '@jest/globals';
import { createHash } from 'node:crypto';
import { isTerminal } from '../../src/dialogue/journal/message.events.js';
import { type Client, framesIn, recordsIn } from './client.js';
import { eventually } from './eventually.js';
import type { TurnLog } from './turn-log.js';

/** The digest that the protocol defines: over the `id:` and `data:` lines, each with its line feed, without empty lines. */
export const digestOf = (records: string): string => createHash('sha256').update(records.replaceAll('\n\n', '\n')).digest('hex');

/**
 * Expects a finished turn to be consistent everywhere: one outcome and one seal in the log, one terminal frame, the same bytes
 * and digest for every reader, and the answer's text in the conversation.
 */
export async function expectTurnWhole(log: TurnLog, turnId: string, client: Client): Promise<void> {
  const { conversationId, outcomes, seals } = log.turns.get(turnId)!;
  const journal = await log.journalOf(turnId);
  const frames = framesIn(journal);
  expect({ turnId, outcomes: outcomes.length, seals: seals.length }).toEqual({ turnId, outcomes: 1, seals: 1 });
  expect(frames.map(({ id }) => id)).toEqual([...frames.keys()]);
  expect(frames.filter(({ raw }) => isTerminal(raw))).toEqual(frames.slice(-1));
  const sha256 = digestOf(journal);
  expect(seals[0]!.data).toMatchObject({ sha256, frames: frames.length, lastId: frames.length - 1 });

  expect(recordsIn((await client.resume(turnId)).text)).toBe(journal);
  expect(await client.json(`/api/messages/${turnId}/digest`)).toEqual({
    message_id: turnId,
    frames: frames.length,
    last_id: frames.length - 1,
    sha256,
    complete: true,
  });

  const textOf = (type: string) => frames.map(({ data }) => (data.type === type ? data[type] : '')).join('');
  const { answer, thought } = outcomes[0]!.data;
  expect({ answer, thought }).toEqual({ answer: textOf('answer'), thought: textOf('thought') });
  await eventually(async () => {
    const { queries } = await client.json<{ queries: Record<string, unknown>[] }>(
      `/api/get_single_conversation?id=${conversationId}`,
    );
    const query = queries.find((each) => each['message_id'] === turnId);
    expect(query).toMatchObject({ response: answer, thought });
    return true;
  });
}
