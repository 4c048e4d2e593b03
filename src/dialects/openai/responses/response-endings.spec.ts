import { beforeEach, expect, it } from '@jest/globals';
import { cause } from '../../../../test/support/turns.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import type { Command, Commands } from '../../../kernel/commands.js';
import { Rejection } from '../../../kernel/rejection.js';
import { StopAnswer } from '../../../dialogue/answering/runner/stop-answer.commands.js';
import type { AgentKeyCaller } from '../../../resources/identity/caller.js';
import { DeleteResponse } from './response.commands.js';
import { ResponseEndings, STOPPING_MS_MAX } from './response-endings.js';
import type { ResponseCreated } from './response.events.js';
import type { Responses } from './responses.js';

const created = { responseId: 'r', conversationId: 'c', turnId: 't', createdAt: '2026-01-01' } as ResponseCreated['data'];
const caller = { kind: 'agent-key', ownerId: 'ann', cause } as AgentKeyCaller;

let timing: VirtualTiming;
let sent: unknown[];
/** The type of the command that fails. */
let failing: unknown;
let isOver: () => Promise<boolean>;
/** The ended response, if it ends in time. */
let atEnd: object | undefined;
let endings: ResponseEndings;
beforeEach(() => {
  timing = new VirtualTiming();
  sent = [];
  failing = undefined;
  isOver = async () => false;
  atEnd = undefined;
  const responses = {
    isOver: () => isOver(),
    asOf: async () => ({ status: 'in_progress' }),
    atEnd: (_head: unknown, _caller: unknown, signal: AbortSignal) =>
      atEnd
        ? Promise.resolve(atEnd)
        : new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true })),
  };
  const commands = {
    execute: async (command: Command) => {
      if (command.constructor === failing) throw new Error('died');
      sent.push(command);
    },
  };
  endings = new ResponseEndings(responses as unknown as Responses, commands as unknown as Commands, timing);
});

it('a cancellation returns the ended response', async () => {
  atEnd = { status: 'cancelled' };
  expect(await endings.cancel(created, caller)).toBe(atEnd);
  expect(sent).toEqual([new StopAnswer('c', 't', cause)]);
  expect(timing.elapsedMs()).toBe(0);
});

it('a cancellation waits for a limited time and then returns the current response', async () => {
  let answered: object | undefined;
  const cancelling = endings.cancel(created, caller).then((response) => (answered = response));
  await timing.pause(STOPPING_MS_MAX - 1);
  expect(answered).toBeUndefined();
  await timing.pause(1);
  expect(await cancelling).toEqual({ status: 'in_progress' });
});

it('an ended response is not stopped', async () => {
  isOver = async () => true;
  atEnd = { status: 'completed' };
  expect(await endings.cancel(created, caller)).toBe(atEnd);
  expect(sent).toEqual([]);
});

it('a deletion that dies after one of its two steps is completed by its repetition', async () => {
  failing = DeleteResponse;
  await expect(endings.delete(created, caller)).rejects.toThrow('died');
  expect(sent).toEqual([new StopAnswer('c', 't', cause)]);
  failing = undefined;
  await endings.delete(created, caller);
  expect(sent.at(-1)).toEqual(new DeleteResponse('r', cause));
});

it('a response that cannot be stopped now is not deleted, so that a repetition finds and stops it', async () => {
  failing = StopAnswer;
  await expect(endings.delete(created, caller)).rejects.toThrow('died');
  expect(sent).toEqual([]);
});

it('a response whose journal is deleted can be deleted and is not found by a cancellation', async () => {
  isOver = () => Promise.reject(new Rejection('response-not-found', 'There is no such response.'));
  await expect(endings.cancel(created, caller)).rejects.toMatchObject({ code: 'response-not-found' });
  expect(sent).toEqual([]);
  await endings.delete(created, caller);
  expect(sent).toEqual([new DeleteResponse('r', cause)]);
});
