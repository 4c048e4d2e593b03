import type { Logger } from 'pino';
import { categoryOf, LOG_START } from '../../src/kernel/event-sourcing/event-store.js';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import { type Backing, type MakeBacking, onPostgres } from './backing.js';
import { LOG_SEALS_CATEGORY } from '../../src/work/log-seals/log-seals.events.js';
import { Client } from './client.js';
import { eventually } from './eventually.js';
import { ScriptedModelServer } from './scripted-model-server.js';
import { serviceForTests, type TestService } from './service.js';
import { TurnLog } from './turn-log.js';
import { userIdOf } from './user-id.js';

/** A service with sign-in, a scripted model, and users. */
export type World = Readonly<{
  service: TestService;
  backing: Backing;
  model: ScriptedModelServer;
  alice: Client;
  bob: Client;
  /** A client without credentials. */
  nobody: Client;
  as(subject: string, options?: Readonly<{ expiresInSeconds?: number; roles?: readonly 'admin'[] }>): Promise<Client>;
  /** The id of a user, by the name in their tokens. */
  idOf(subject: string): Promise<string>;
  /** A published agent, by default Alice's. */
  agent(fields?: Readonly<Record<string, unknown>>, owner?: Client): Promise<Readonly<{ id: string; key: string }>>;
  /** The position of the newest event once every turn has ended. Later user events for tabs and seals are not counted. */
  quietHead(): Promise<bigint>;
  close(): Promise<void>;
}>;

/** Categories of events that are appended at any time after what they are about. */
const LATER = [LOG_SEALS_CATEGORY, 'user'];

export async function openWorld(
  environment: Readonly<Record<string, string>> = {},
  makeBacking: MakeBacking = onPostgres,
  output?: Logger,
): Promise<World> {
  const model = await ScriptedModelServer.start();
  const settings = {
    AUTH_TYPE: 'session_jwt',
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'scripted',
    // Titles would use the same scripted model and consume scripts that are meant for answers.
    TITLE_MODEL_ID: 'none',
    ...environment,
  };
  const service = await serviceForTests(settings, makeBacking, output);
  const as: World['as'] = async (subject, { expiresInSeconds, roles = [] } = {}) => {
    const tokens = service.service.app.get(SessionTokens, { strict: false });
    return new Client(service.url, { authorization: `Bearer ${await tokens.issue({ subject, roles }, expiresInSeconds)}` });
  };
  const log = new TurnLog(service.backing.store);
  let [newest, readTo] = [LOG_START, LOG_START];
  const [alice, bob] = await Promise.all([as('alice'), as('bob')]);
  return {
    service,
    backing: service.backing,
    model,
    alice,
    bob,
    nobody: new Client(service.url),
    as,
    idOf: (subject) => userIdOf(service, subject),
    agent: async (fields = {}, owner = alice) => {
      const whole = { name: 'Guide', description: 'Knows', chunks: 4, retriever: 'classic', prompt_id: 'default' };
      const response = await owner.post('/api/create_agent', { ...whole, status: 'published', ...fields });
      if (response.status !== 201) throw new Error(`No agent: ${response.status} ${await response.text()}`);
      return (await response.json()) as { id: string; key: string };
    },
    quietHead: async () => {
      await eventually(async () => (await log.refresh()).unsealed.length === 0);
      for await (const page of service.backing.store.readAll({ after: readTo })) {
        newest = page.events.findLast(({ stream }) => !LATER.includes(categoryOf(stream)))?.position ?? newest;
        readTo = page.position;
      }
      return newest;
    },
    close: async () => {
      await service.close();
      await model.close();
    },
  };
}

/** A complete response. `body` is parsed if it is JSON. */
export type Reply = Readonly<{ status: number; headers: Headers; text: string; body: unknown }>;

export async function replyOf(responding: Response | Promise<Response>): Promise<Reply> {
  const response = await responding;
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: response.status, headers: response.headers, text, body: isJson ? (JSON.parse(text) as unknown) : undefined };
}
