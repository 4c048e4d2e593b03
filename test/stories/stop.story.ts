import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, Client, messageIdIn, type streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { hang, say, ScriptedModelServer, wait } from '../support/scripted-model-server.js';
import { Seeded } from '../support/seeded.js';
import { serviceForTests, type TestService } from '../support/service.js';
import { TurnLog } from '../support/turn-log.js';
import { expectTurnWhole } from '../support/whole-turn.js';

/** The number of races. In each the stop arrives at about the end of the answer. TEST_STOP_RACES sets more. */
const RACES = Number(process.env['TEST_STOP_RACES'] ?? 60);
/** Each race is an answer, which takes half a second on EventStoreDB on a busy machine. */
const RACES_MS_MAX = 600_000;
const AT_ONCE = 10;
/** Longer than a request takes on a busy machine, because some stops have to be in time. */
const ANSWER_MS = 150;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

/** Stopping an answer: an accepted stop takes effect, and no answer ends twice. */
export function stopStory(makeBacking: MakeBacking): void {
  let service: TestService;
  let model: ScriptedModelServer;
  let client: Client;
  beforeAll(async () => {
    model = await ScriptedModelServer.start();
    const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted', TITLE_MODEL_ID: 'none' };
    service = await serviceForTests(settings, makeBacking);
    client = new Client(service.url);
  });
  afterAll(async () => {
    await service.close();
    await model.close();
  });

  const cancel = async (id: string) => {
    const response = await client.post(`/api/messages/${id}/cancel`, {});
    return { status: response.status, body: await response.json() };
  };
  const ACCEPTED = { status: 202, body: { success: true } };
  const OVER = {
    status: 409,
    body: { success: false, message: 'The answer is not running.', error: 'message_not_running' },
  };

  /** Asks, and resolves once the id of the answer is known. `rest` resolves with the whole stream. */
  async function asked(): Promise<{ id: string; rest: ReturnType<typeof streamed> }> {
    let known: (id: string) => void;
    const id = new Promise<string>((resolve) => (known = resolve));
    const rest = client.stream({ question: 'Why?', visibility: 'listed' }, (text) => {
      const found = /"message_id":"([^"]+)"/.exec(text)?.[1];
      if (found) known(found);
      return false;
    });
    return { id: await Promise.race([id, rest.then(messageIdIn)]), rest };
  }

  describe('a stopped answer', () => {
    it('keeps its text, ends with the stop, and cancels the model request', async () => {
      model.next([...say('The ', 'sky'), hang]);
      const { id, rest } = await asked();
      await eventually(async () => (await client.json(`/api/messages/${id}/tail`))['response'] === 'The sky');
      expect(await cancel(id)).toEqual(ACCEPTED);
      const stream = await rest;
      expect(stream.frames.at(-1)!.data).toEqual({ type: 'error', error: expect.any(String), code: 'stopped' });
      expect(answerIn(stream)).toBe('The sky');
      await eventually(() => model.completions.at(-1)!.closed);
      expect(await client.json(`/api/messages/${id}/tail`)).toMatchObject({ response: 'The sky', status: 'complete' });
    });

    it('may be stopped again while it is stopping, but not when it has ended', async () => {
      model.next([...say('The '), hang]);
      const { id, rest } = await asked();
      // Either of the two may be first.
      const both = await Promise.all([cancel(id), cancel(id)]);
      expect(both).toContainEqual(ACCEPTED);
      for (const one of both) expect([ACCEPTED, OVER]).toContainEqual(one);
      await rest;
      expect(await cancel(id)).toEqual(OVER);
    });

    it('must exist', async () => {
      const none = { status: 404, body: { success: false, message: 'Not found' } };
      expect(await cancel(UNKNOWN)).toEqual(none);
      expect(await cancel('not-an-id')).toEqual(none);
    });

    it(
      `ends once in each of ${RACES} races, as stopped if the stop was accepted`,
      async () => {
        const random = new Seeded(7);
        let answerMs = ANSWER_MS;
        const promised = new Map<string, boolean>();
        // The delay grows after each stop that was in time and shrinks after each that was late, so that stops arrive at about
        // the end.
        let aboutMs = ANSWER_MS;
        const race = async () => {
          const { id, rest } = await asked();
          await pause(2 * random.next() * aboutMs);
          const { status } = await cancel(id);
          expect([202, 409]).toContain(status);
          const { frames } = await rest;
          const stopped = frames.at(-1)!.data['code'] === 'stopped';
          expect({ status, stopped }).toEqual({ status, stopped: status === 202 });
          promised.set(id, stopped);
          aboutMs *= stopped ? 1.2 : 0.8;
        };
        for (let done = 0; done < RACES; done += AT_ONCE) {
          model.always([...say('The ', 'sky '), wait(answerMs), ...say('is ', 'blue.')]);
          await Promise.all(Array.from({ length: AT_ONCE }, race));
          // On a busy machine, answers may be over before any stop can arrive.
          if (![...promised.values()].includes(true)) answerMs *= 2;
        }
        expect(new Set(promised.values()).size).toBe(2);

        const log = new TurnLog(service.backing.store);
        await eventually(async () => (await log.refresh()).unsealed.length === 0);
        for (const [id, stopped] of promised) {
          expect(log.turns.get(id)!.outcomes.map(({ type }) => type)).toEqual([stopped ? 'TurnStopped' : 'TurnAnswered']);
          await expectTurnWhole(log, id, client);
        }
      },
      RACES_MS_MAX,
    );
  });
}
