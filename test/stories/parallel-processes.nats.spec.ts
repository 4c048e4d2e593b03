import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Backing, onEventStoreDbAndNats } from '../support/backing.js';
import { answerIn, conversationIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { ScheduleCalls } from '../support/schedules.js';
import { say } from '../support/scripted-model-server.js';
import { TurnLog } from '../support/turn-log.js';
import { openWorld, type World } from '../support/world.js';

const QUESTIONS = 50;
const SCHEDULES = 40;
/** Two services, their stores and their models share a CPU with other suites. */
const ANSWERED_MS_MAX = 300_000;

let backing: Backing;
let worlds: readonly World[];

beforeAll(async () => {
  backing = await onEventStoreDbAndNats();
  const shared = async () => ({ ...backing, close: async () => undefined });
  const open = () => openWorld({ SCHEDULE_MAX_PER_USER: String(SCHEDULES) }, shared);
  worlds = [await open(), await open()];
});
afterAll(async () => {
  for (const world of worlds) await world.close();
  await backing.close();
});

/** Distributes the requests of one user over both processes. */
const processOf = (index: number): World => worlds[index % worlds.length]!;

it(
  `${QUESTIONS} concurrent questions in one conversation are all answered, whichever process accepts or answers them`,
  async () => {
    for (const { model } of worlds) model.always(({ messages }) => say('You asked: ', String(messages.at(-1)!.content)));
    const conversation_id = conversationIdIn(await processOf(0).alice.stream({ question: 'First' }));
    const questions = Array.from({ length: QUESTIONS }, (_, index) => `Question ${index}`);
    const ask = async (question: string, world: World) => {
      for (;;) {
        const stream = await world.alice.stream({ question, conversation_id });
        // A question that loses too many races against the others, on a slow machine, may be asked again.
        if (stream.status !== 503) return stream;
      }
    };
    const streams = await Promise.all(questions.map((question, index) => ask(question, processOf(index))));
    expect(streams.map((stream) => [stream.status, answerIn(stream)])).toEqual(
      questions.map((question) => [200, `You asked: ${question}`]),
    );
    const log = new TurnLog(backing.store);
    await eventually(async () => (await log.refresh()).unsealed.length === 0);
    const outcomes = [...log.turns.values()].map((turn) => turn.outcomes.map(({ type }) => type));
    expect(outcomes).toEqual(Array.from({ length: QUESTIONS + 1 }, () => ['TurnAnswered']));
  },
  ANSWERED_MS_MAX,
);

it(`${SCHEDULES} concurrent schedules of one user are created through both processes`, async () => {
  const { id } = await processOf(0).agent();
  const calls = await Promise.all(worlds.map((world) => ScheduleCalls.of(world)));
  const replies = await Promise.all(
    Array.from({ length: SCHEDULES }, (_, index) => calls[index % calls.length]!.createReply(id, { name: `Schedule ${index}` })),
  );
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201));
});

it('the holders of a key have no more requests than the agent allows, through any number of processes', async () => {
  for (const { model } of worlds) model.always(say('Well.'));
  const { key } = await processOf(0).agent({ limited_request_mode: true, request_limit: 5 });
  const ask = (index: number) => processOf(index).nobody.post('/api/answer', { question: 'Why?', api_key: key });
  const replies = await Promise.all(Array.from({ length: 10 }, (_, index) => ask(index)));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429, 429]);
});
