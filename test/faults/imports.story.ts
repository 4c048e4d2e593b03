import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { agentFile } from '../support/agent-files.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { Seeded } from '../support/seeded.js';

/** The maximum number of tools of a user. */
const TOOLS_MAX = 190;
const TOOLS_EACH_MAX = 6;
const ATTEMPTS_MS_MAX = 60_000;
const FINISHED_MS_MAX = 60_000;
/** The approximate duration of an import. Kills are spread over it and a little longer. */
const IMPORT_MS_MAX = 400;

type Agent = Readonly<{ id: string; name: string; tools: readonly string[]; workflow: string | null; agent_type: string }>;
type Tool = Readonly<{ id: string; customName: string; default?: true }>;

/** Imports of agents with tools, a prompt and a workflow, into a service that is killed at random moments. */
export function importsFaultStory(makeBacking: MakeBacking, kills: number, seed: number): void {
  const random = new Seeded(seed);
  const toolsEach = Math.max(1, Math.min(TOOLS_EACH_MAX, Math.floor(TOOLS_MAX / kills)));
  let running: ScriptedProcess;
  let answered = '';

  beforeAll(async () => {
    const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', TITLE_MODEL_ID: 'none', LOG_LEVEL: 'warn' };
    running = await startScriptedProcess(settings, { backing: await makeBacking(), standbys: 1 });
  });
  afterAll(() => running.close());

  const nameOf = (n: number, tool: number) => `import ${n} tool ${tool}`;
  const isWorkflow = (n: number) => n % 2 === 1;

  function fileOf(n: number): string {
    const tools = Array.from({ length: toolsEach }, (_, tool) => ({
      type: 'api_tool',
      name: nameOf(n, tool),
      description: 'Looks',
      config: { actions: { look: { name: 'look', url: 'http://127.0.0.1:9/look', method: 'GET', description: 'Looks' } } },
    }));
    const nodes = [
      { id: 'start', type: 'start' },
      { id: 'cook', type: 'agent', config: { tools: tools.map((_, tool) => `tool-${tool}`) } },
      { id: 'end', type: 'end' },
    ];
    const edges = [
      { id: 'e1', source: 'start', target: 'cook' },
      { id: 'e2', source: 'cook', target: 'end' },
    ];
    const prompt = { name: `Prompt ${n}`, content: 'Arr.' };
    const more = isWorkflow(n) ? { agent_type: 'workflow', workflow: { name: `Flow ${n}`, nodes, edges } } : { prompt };
    return agentFile({ name: `Import ${n}`, tools, ...more });
  }

  const send = async (n: number): Promise<number> => {
    const key = { 'idempotency-key': `import ${n}` };
    const response = await running.client.post('/api/import_agent', { yaml: fileOf(n) }, key);
    answered = `${response.status} ${await response.clone().text()}`;
    const body = (await response.json()) as { success: boolean; action: string; slug: string };
    if (response.status === 200) expect(body).toMatchObject({ success: true, action: 'created' });
    else expect([response.status, body]).toEqual([expect.any(Number), expect.not.objectContaining({ success: true })]);
    return response.status;
  };

  const agents = async () => (await (await running.client.get('/api/get_agents')).json()) as readonly Agent[];
  const tools = async () =>
    ((await (await running.client.get('/api/get_tools')).json()) as { tools: readonly Tool[] }).tools.filter(
      (tool) => !tool.default,
    );

  /** Describes an agent without all its tools, or a tool without its agent. Undefined if there is none. */
  async function whatIsHalf(): Promise<string | undefined> {
    const [all, listed] = [await agents(), await tools()];
    const named = new Set(all.map(({ name }) => name));
    if (named.size < all.length) return 'an agent is there twice';
    const count = (n: string) => listed.filter(({ customName }) => customName.startsWith(`import ${n} tool `)).length;
    for (const { name, tools: own, workflow, agent_type: type } of all) {
      const n = name.replace('Import ', '');
      if (count(n) !== toolsEach) return `${name} has ${count(n)} of ${toolsEach} tools`;
      if (type === 'workflow' ? workflow === null : own.length !== toolsEach) return `${name} refers to too little`;
    }
    const alone = listed.find(({ customName }) => !named.has(`Import ${/^import (\d+)/.exec(customName)?.[1]}`));
    return alone && `${alone.customName} is there without its agent`;
  }

  it(`an import is complete or absent after each of ${kills} kills, and is made once however often it is sent (seed ${seed})`, async () => {
    const insisted = new Set<string>();
    for (let n = 0; n < kills; n++) {
      const sent = send(n).catch(() => 0);
      await pause(random.next() * IMPORT_MS_MAX);
      await running.service.kill();
      await sent;
      await running.service.start();
      // Some senders repeat the request with their key, others do not.
      if (random.next() < 0.7) {
        insisted.add(`Import ${n}`);
        await eventually(async () => (await send(n)) === 200, ATTEMPTS_MS_MAX, `import ${n} is taken`).catch((error: unknown) => {
          throw new Error(`${answered}\n${running.service.output}`, { cause: error });
        });
      }
      let half: string | undefined;
      await eventually(async () => (half = await whatIsHalf()) === undefined, FINISHED_MS_MAX, 'every import is whole').catch(
        (error: unknown) => {
          throw new Error(`After kill ${n}: ${half}\n${running.service.output}`, { cause: error });
        },
      );
    }
    const names = (await agents()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...insisted]));
    const { sql } = running.backing.database;
    // The agent of the last import may exist before the import is recorded as finished.
    const unfinished = async () => {
      const [left] = await sql`
        select count(*) filter (where type = 'AgentImportAccepted')::int - count(*) filter (where type = 'AgentImportFinished')::int as n
        from event_store.event`;
      return left!['n'] as number;
    };
    await eventually(async () => (await unfinished()) === 0, FINISHED_MS_MAX, 'every import that was accepted is finished');
  }, 2_400_000);
}
