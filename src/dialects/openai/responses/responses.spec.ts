import { beforeEach, expect, it } from '@jest/globals';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { cause } from '../../../../test/support/turns.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { newId } from '../../../kernel/ids.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Answers, NumberedFrame } from '../../../dialogue/answering/intake/answers.port.js';
import type { AgentKeyCaller } from '../../../resources/identity/caller.js';
import type { AskedQuestions } from '../asking/asked-questions.js';
import { OpenAiOptions } from '../asking/openai-options.js';
import { create, storedResponse } from './response.decider.js';
import { type ResponseCreated, responseStream } from './response.events.js';
import { responseRequestOf } from './response-request.policy.js';
import { Responses } from './responses.js';

const ID = '0b9d3f6e-21c4-4f0b-8a55-3c1f6f0d9e01';
const RETENTION_SECONDS = 60;
const CREATED_AT = new Date('2026-01-01T12:00:00.000Z');
const NOT_FOUND = { code: 'response-not-found' };

const caller = { kind: 'agent-key', agentId: 'a', ownerId: 'ann', cause } as AgentKeyCaller;
const { echo, items: input } = responseRequestOf({ input: 'When is tea?' }, 'a');
const created: ResponseCreated['data'] = {
  responseId: ID,
  conversationId: '6f0c0a52-6b0e-4a3c-9a57-0c7f5d1f2b10',
  turnId: ID,
  after: -1,
  createdAt: CREATED_AT.toISOString(),
  translator: 1,
  echo,
  input,
};

let now: Date;
let isJournalKept: boolean;
let isReadable: boolean;
let goesOn: (number | readonly { prompt: string; response: string }[])[];
let asked: unknown[][];
let responses: Responses;
beforeEach(async () => {
  [now, isJournalKept, isReadable] = [CREATED_AT, true, true];
  [goesOn, asked] = [[], []];
  const streams = new Streams(new InMemoryEventStore(), new VirtualTiming());
  await streams.transact(responseStream(ID), storedResponse, create(created), cause);
  const answers = {
    requireReadable: async () => {
      if (!isReadable) throw new Rejection('message-not-found', 'Message not found');
    },

    async *written(): AsyncGenerator<NumberedFrame> {
      if (!isJournalKept) throw new Rejection('journal-expired', 'The events of this answer are no longer kept.');
      yield { id: 0, frame: { type: 'end' } };
    },

    usage: async () => undefined,
    journaledAt: async () => CREATED_AT,
    goingOnFrom: async () => goesOn.shift(),
  };
  const ask: AskedQuestions['ask'] = async (_question, _caller, from, { nextIndex }) => {
    asked.push([from, nextIndex]);
    if (goesOn.length > 0) throw new Rejection('index-out-of-range', 'Another question was asked.');
    return { conversationId: newId(), turnId: newId(), after: -1, replayed: false, position: undefined, attachmentIds: [] };
  };
  responses = new Responses(
    answers as unknown as Answers,
    { ask } as unknown as AskedQuestions,
    commandsOver(),
    streams,
    { now: () => now },
    new OpenAiOptions(1, RETENTION_SECONDS),
  );
});

const later = (ms: number) => (now = new Date(CREATED_AT.getTime() + 1_000 * RETENTION_SECONDS + ms));
const goingOn = () =>
  responses.create(responseRequestOf({ input: 'And?', previous_response_id: `resp_${ID}` }, 'a'), caller, undefined);

it('a response is found until its retention period ends, also if it is not purged yet', async () => {
  later(0);
  expect(await responses.found(`resp_${ID}`, caller)).toEqual(created);
  later(1);
  await expect(responses.found(`resp_${ID}`, caller)).rejects.toMatchObject(NOT_FOUND);
  await expect(goingOn()).rejects.toMatchObject({
    code: 'previous-response-not-found',
    details: { param: 'previous_response_id' },
  });
});

it('a response whose journal was deleted before is not found either', async () => {
  isJournalKept = false;
  await expect(responses.asOf(created)).rejects.toMatchObject(NOT_FOUND);
  await expect(responses.isOver(created)).rejects.toMatchObject(NOT_FOUND);
  await expect(goingOn()).rejects.toMatchObject({ code: 'previous-response-not-found' });
});

it('a response is not found by a caller who may not read its conversation', async () => {
  isReadable = false;
  await expect(responses.found(`resp_${ID}`, caller)).rejects.toMatchObject(NOT_FOUND);
});

it('a question that another one has overtaken begins a new conversation', async () => {
  const history = [{ prompt: 'When is tea?', response: 'At four.' }];
  goesOn = [1, history];
  await responses.create(
    responseRequestOf({ input: 'And?', previous_response_id: `resp_${ID}`, store: false }, 'a'),
    caller,
    'k',
  );
  expect(asked).toEqual([
    [created.conversationId, 1],
    [history, undefined],
  ]);
});
