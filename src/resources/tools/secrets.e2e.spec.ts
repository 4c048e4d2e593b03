import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { onPostgres } from '../../../test/support/backing.js';
import { Client } from '../../../test/support/client.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';
import { ToolKindForTests } from '../../../test/support/tool-kinds.js';
import { callContext } from '../../../test/support/tool-calls.js';
import { Rejection } from '../../kernel/rejection.js';
import { openLog } from '../../platform/telemetry/log.js';
import { Toolbox } from './toolbox/toolbox.port.js';
import { type Configured, ToolFailed } from './toolbox/tool-kind.port.js';
import { ToolKinds } from './toolbox/tool-kinds.js';

const [SECRET, NEXT] = ['planted-secret-6f1d/&=', 'planted-secret-next-77'];

/** A kind whose errors contain the secrets that it was given. */
class CarelessKind extends ToolKindForTests {
  override async configure(
    config: Readonly<Record<string, unknown>>,
    secrets: Readonly<Record<string, string>>,
  ): Promise<Configured> {
    if (config['paper'] === 'thin') throw new TypeError(`No such paper for ${JSON.stringify(secrets)}`);
    if (config['paper'] === 'thick') throw new Rejection('invalid-request', `Refused with ${secrets['token']}`);
    return { config, secrets };
  }
}

let service: TestService;
let client: Client;
let kind: CarelessKind;
const log: string[] = [];
const heard: string[] = [];

beforeAll(async () => {
  const destination = { write: (line: string) => void log.push(line) };
  service = await serviceForTests({}, onPostgres, openLog({ level: 'trace', format: 'json', destination }));
  kind = new CarelessKind();
  service.service.app.get(ToolKinds, { strict: false }).add(kind);
  client = new Client(service.url);
});
afterAll(() => service.close());

const send = async (path: string, body: unknown) => {
  const text = await (await client.post(`/api/${path}`, body)).text();
  heard.push(text);
  return JSON.parse(text) as Record<string, unknown>;
};
const card = { name: 'postcard', displayName: 'Cards', description: '', status: true };

/** The text of every row of every table of the database. */
async function everythingStored(): Promise<string> {
  const { sql } = service.database;
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
  const texts = await Promise.all(
    tables.map(async ({ name }) => JSON.stringify(await sql.unsafe(`select t::text from ${name} t`))),
  );
  return texts.join('\n');
}

it('a secret appears in no event, read model, response, error or log line', async () => {
  const { id } = await send('create_tool', { ...card, config: { token: SECRET, pin: NEXT } });
  for (const paper of ['thin', 'thick', 'none']) {
    await send('create_tool', { ...card, config: { token: SECRET, paper } });
    await send('update_tool_config', { id, config: { token: NEXT, paper } });
  }
  await send('create_tool', { ...card, name: 'nonsense', config: { token: SECRET } });
  await send('update_tool_config', { id, config: { token: [SECRET] } });
  await send('update_tool', { id, displayName: 'Other', config: { token: NEXT } });

  const toolbox = service.service.app.get(Toolbox, { strict: false });
  const pins = await toolbox.pin('local', [id as string]);
  const tools = await toolbox.open({ pins, ownerId: 'local', agentId: null, agentType: 'classic', hasSources: false });
  heard.push(JSON.stringify([tools.actions, tools.notices]));
  const doings = [
    ({ tool }: { tool: { secrets: object } }) => ({ sent: tool.secrets, url: `https://x/?t=${encodeURIComponent(NEXT)}` }),
    () => {
      throw new Error(`401 for ${NEXT} and ${SECRET}`);
    },
    () => {
      throw new ToolFailed(`401 for ${NEXT}`, { cause: new Error(SECRET) });
    },
  ];
  for (const does of doings) {
    kind.does = does;
    const outcome = await tools.run(tools.actions[0]!, { to: 'Bob' }, callContext()).catch((error: Error) => error);
    heard.push(
      outcome instanceof Error ? `${outcome.message} ${outcome.stack} ${JSON.stringify(outcome)}` : JSON.stringify(outcome),
    );
  }
  expect(kind.calls[0]?.tool.secrets).toEqual({ token: NEXT, pin: NEXT });
  heard.push(await (await client.get('/api/get_tools')).text(), await (await client.get('/api/audit_log')).text());
  await send('delete_tool', { id });

  expect(log.join('')).toContain('CarelessKind');
  const everything = { heard: heard.join('\n'), log: log.join('\n'), stored: await everythingStored() };
  const spellings = [SECRET, NEXT].flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ]);
  expect(everything.stored).toContain('ToolCreated');
  for (const [where, text] of Object.entries(everything)) {
    for (const spelling of spellings) expect([where, text.includes(spelling)]).toEqual([where, false]);
  }
});
