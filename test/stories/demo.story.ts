import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO_KEY } from '../../src/views/demo/seed-demo.js';
import { newId } from '../../src/kernel/ids.js';
import type { MakeBacking } from '../support/backing.js';
import { Client, type Streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { serviceForTests, type TestService } from '../support/service.js';
import { replyOf } from '../support/world.js';
import { appendSurely } from '../support/append-surely.js';

const QUESTION = 'What happens to a stream when its producer dies?';

export type Ready = Readonly<{ status: string; reasons: readonly string[] }>;

export async function readinessOf(client: Client): Promise<Ready & { code: number }> {
  const { status: code, body } = await replyOf(client.get('/api/ready'));
  const { status, reasons } = body as Ready;
  return { code, status, reasons };
}

/** Waits until the service is ready. Fails with the reasons that it reports. */
export async function untilReady(client: Client, boundMs = 110_000): Promise<void> {
  let last: Ready | undefined;
  const isReady = async () => (last = await readinessOf(client)).status === 'ready';
  await eventually(isReady, boundMs).catch((cause: unknown) => {
    throw new Error(`It is not ready: ${JSON.stringify(last)}`, { cause });
  });
}

export const askDemo = (client: Client): Promise<Streamed> => client.stream({ question: QUESTION, api_key: DEMO_KEY });

/** Expects an answer to the demo's key from the demo's documents. */
export function expectSourced({ status, frames }: Streamed): void {
  expect(status).toBe(200);
  const sources = frames.flatMap(({ data }) => (data.type === 'source' ? (data['source'] as { filename: string }[]) : []));
  expect(sources.length).toBeGreaterThan(0);
  for (const { filename } of sources) expect(filename).toMatch(/\.md$/);
  expect(frames.at(-1)!.data.type).toBe('end');
}

/** The first questions of new users, the heading of the answer's source, and part of the answer. */
const FIRST_QUESTIONS = [
  ['How do I start it?', 'Start the service', '`npm ci && npm start`'],
  ['How do I create an agent?', 'Create an agent', '`POST /api/create_agent`'],
  ['How do I add documents?', 'Add documents', '`POST /api/upload`'],
  ['How do I set the port?', 'Set the port', '`PORT`'],
  ['How do I use a model?', 'Use a model', '`OPENAI_BASE_URL`'],
  ['How do I resume a stream?', 'Resume a stream', '`Last-Event-ID`'],
  ['How do I verify a replay?', 'Verify a replay', '`GET /api/messages/<message_id>/digest`'],
  [QUESTION, 'What happens to a stream when its producer dies', '`STALE_PRODUCER_SECONDS`'],
] as const;

/** What a new user tries first. */
export function demoStory(makeBacking: MakeBacking): void {
  let service: TestService;
  const start = async (settings: Readonly<Record<string, string>> = { SEED_DEMO: 'true' }) => {
    service = await serviceForTests(settings, makeBacking);
    return new Client(service.url);
  };

  describe('of a new service', () => {
    let client: Client;
    beforeAll(async () => (client = await start()));
    afterAll(() => service.close());

    it('answers as soon as the service reports that it is ready', async () => {
      await untilReady(client);
      expectSourced(await askDemo(client));
      expect(await readinessOf(client)).toMatchObject({ code: 200, status: 'ready', reasons: [] });
    });

    it('answers the first questions of new users from the right page', async () => {
      await untilReady(client);
      for (const [question, heading, said] of FIRST_QUESTIONS) {
        const { body } = await replyOf(client.post('/api/answer', { question, api_key: DEMO_KEY }));
        const [introduction, opening] = (body as { answer: string }).answer.split('\n\n');
        expect(introduction).toContain('built-in extractive model');
        expect(opening).toMatch(/^According to “/);
        expect(opening!.slice(0, opening!.indexOf('”'))).toContain(heading);
        expect(opening).toContain(said);
      }
    });

    it('is created once, and is not created again after it was deleted', async () => {
      const ready = () => untilReady(client);
      const agents = async () => (await replyOf(client.get('/api/get_agents'))).body as { id: string; name: string }[];
      await ready();
      const made = await agents();
      expect(made.map(({ name }) => name)).toEqual(['Demo']);
      await service.restart();
      await ready();
      expect(await agents()).toMatchObject(made.map(({ id }) => ({ id })));
      expectSourced(await askDemo(client));

      expect((await client.delete(`/api/delete_agent?id=${made[0]!.id}`)).status).toBe(200);
      await service.restart();
      await ready();
      expect(await agents()).toEqual([]);
      expect((await askDemo(client)).status).toBe(401);
    });
  });

  describe('of a service that was started without it', () => {
    afterEach(() => service.close());

    it('is created if the log contains only the store’s own events', async () => {
      const client = await start({});
      await service.backing.store.setRetention('conversation-none', { maxCount: 1 });
      await service.restart({ SEED_DEMO: 'true' });
      await untilReady(client);
      expectSourced(await askDemo(client));
    });

    it('is not created if the service was used before', async () => {
      const client = await start({});
      const written = { id: newId(), type: 'SomethingElse', data: '{}', metadata: '{}' };
      await appendSurely(service.backing.store, 'something-else', 'none', [written]);
      await service.restart({ SEED_DEMO: 'true' });
      await untilReady(client);
      expect((await askDemo(client)).status).toBe(401);
    });
  });
}
