import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, conversationIdIn, messageIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { ScheduleCalls } from '../support/schedules.js';
import { say, until } from '../support/scripted-model-server.js';
import { TurnLog } from '../support/turn-log.js';
import { expectTurnWhole } from '../support/whole-turn.js';
import { openWorld, type World } from '../support/world.js';

const SCHEDULES_MAX = 60;
const TOO_MANY = 10;
/** Fifty concurrent answers take seconds of CPU time, which other suites use too. */
const ANSWERED_MS_MAX = 600_000;

type Conversation = Readonly<{ queries: readonly Readonly<{ prompt: string; response: string; status: string }>[] }>;

/** Many concurrent requests of one user, which append to the same stream. */
export function parallelQuestionsStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ SCHEDULE_MAX_PER_USER: String(SCHEDULES_MAX) }, makeBacking);
  });
  afterAll(() => world.close());

  describe('questions in one conversation', () => {
    it.each([5, 20, 50])(
      'are all answered when %i are asked concurrently',
      async (count) => {
        const { model, alice, backing } = world;
        model.always(({ messages }) => say('You asked: ', String(messages.at(-1)!.content)));
        const conversation_id = conversationIdIn(await alice.stream({ question: 'First' }));
        const questions = Array.from({ length: count }, (_, index) => `Question ${index}`);
        const streams = await Promise.all(questions.map((question) => alice.stream({ question, conversation_id })));

        expect(streams.map(({ status }) => status)).toEqual(questions.map(() => 200));
        expect(streams.map(answerIn)).toEqual(questions.map((question) => `You asked: ${question}`));
        expect(streams.map(({ frames }) => frames.at(-1)!.data.type)).toEqual(questions.map(() => 'end'));

        const log = new TurnLog(backing.store);
        await eventually(async () => (await log.refresh()).unsealed.length === 0);
        for (const stream of streams) {
          expect(log.turns.get(messageIdIn(stream))!.outcomes.map(({ type }) => type)).toEqual(['TurnAnswered']);
        }
        for (const stream of streams.slice(0, 5)) await expectTurnWhole(log, messageIdIn(stream), alice);
        const { queries } = await alice.json<Conversation>(`/api/get_single_conversation?id=${conversation_id}`);
        const accepted = [...log.turns.values()].filter((turn) => turn.conversationId === conversation_id);
        expect(queries.map(({ prompt, response, status }) => [prompt, response, status])).toEqual(
          accepted.map(({ question }) => [question, `You asked: ${question}`, 'complete']),
        );
      },
      ANSWERED_MS_MAX,
    );

    it('run concurrently, and each sees the answers that existed when it started', async () => {
      const { model, alice } = world;
      model.reset();
      const conversation_id = conversationIdIn(await alice.stream({ question: 'First' }));
      let goOn = (): void => undefined;
      const come = new Promise<void>((resolve) => (goOn = resolve));
      model.always([until(come), ...say('Done.')]);
      const before = model.completions.length;
      const asked = Array.from({ length: 5 }, (_, index) => alice.stream({ question: `Question ${index}`, conversation_id }));
      await eventually(() => model.completions.length === before + 5);
      goOn();
      await Promise.all(asked);
      const seen = model.completions.slice(before).map(({ body }) => body.messages.filter(({ role }) => role === 'user'));
      expect(seen.map((questions) => questions.map(({ content }) => content))).toEqual(
        expect.arrayContaining(asked.map((_, index) => ['First', `Question ${index}`])),
      );
      model.reset();
      await alice.stream({ question: 'Last', conversation_id });
      expect(model.completions.at(-1)!.body.messages.filter(({ role }) => role === 'user')).toHaveLength(7);
    });
  });

  it(`${SCHEDULES_MAX} concurrent schedules of one user are all created, and those beyond the limit are refused`, async () => {
    const calls = await ScheduleCalls.of(world);
    const { id } = await world.agent();
    const replies = await Promise.all(
      Array.from({ length: SCHEDULES_MAX + TOO_MANY }, (_, index) => calls.createReply(id, { name: `Schedule ${index}` })),
    );
    const statuses = replies.map(({ status }) => status).sort((one, other) => one - other);
    const refused = replies.filter(({ status }) => status !== 201);
    expect(statuses.filter((status) => status === 201)).toHaveLength(SCHEDULES_MAX);
    expect(new Set(refused.map(({ body }) => JSON.stringify(body)))).toEqual(
      new Set([JSON.stringify({ success: false, message: 'max schedules per user reached' })]),
    );
  });
}
