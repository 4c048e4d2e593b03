import { expect } from '@jest/globals';
import { type Client, conversationIdIn } from './client.js';
import { eventually } from './eventually.js';
import { LocalServer } from './local-server.js';
import type { MakeBacking } from './backing.js';
import { call, say } from './scripted-model-server.js';
import { openWorld, type Reply, replyOf, type World } from './world.js';

export type Fields = Record<string, unknown>;
export type MonitorShown = Fields & { monitor_id: string; status: string; check_count: number };
type Query = { prompt: string; response: string; metadata?: Fields };

/** How many monitors a user may have in worlds of tests. */
export const MONITORS_MAX = 3;

/** A world in which Alice's chats monitor a shop whose price the test changes. */
export class WatchedShop {
  price = '95.10';
  private calls = 0;

  private constructor(
    readonly world: World,
    readonly server: LocalServer,
  ) {
    this.reset();
  }

  static async open(makeBacking: MakeBacking): Promise<WatchedShop> {
    const server = await LocalServer.started();
    const settings = {
      ALLOWED_PRIVATE_HOSTS: server.host,
      MONITOR_MAX_ACTIVE_PER_USER: String(MONITORS_MAX),
      SCHEDULE_AUTOPAUSE_FAILURES: '1',
    };
    return new WatchedShop(await openWorld(settings, makeBacking), server);
  }

  /** Restores the initial price and the model's defaults. */
  reset(): void {
    this.world.model.reset();
    this.price = '95.10';
    this.server.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>Shop</title><p>Price: $${this.price}</p>`);
    };
  }

  async close(): Promise<void> {
    await this.world.close();
    await this.server.close();
  }

  get page(): Fields {
    return { type: 'webpage', url: `${this.server.url}/acme` };
  }

  send(method: 'GET' | 'POST' | 'PUT', path: string, client: Client = this.world.alice): Promise<Reply> {
    if (method === 'GET') return replyOf(client.get(path));
    return replyOf(method === 'POST' ? client.post(path, {}) : client.put(path, {}));
  }

  /** Lets the model call an action, in a new chat or in an existing one. Returns the tool's result. */
  async use(action: string, args: Fields, more: Fields = {}, client: Client = this.world.alice) {
    const { model } = this.world;
    model.next([call(`call-${++this.calls}`, action, args)], say('Done.'));
    const asked = await client.stream({ question: 'Do it.', visibility: 'listed', ...more });
    const shown = model.completions.at(-1)!.body.messages.findLast(({ role }) => role === 'tool');
    return { conversationId: conversationIdIn(asked), text: String(shown?.content) };
  }

  async create(fields: Fields = {}) {
    const asked = { description: 'ACME gets cheap', source: this.page, ...fields };
    const { conversationId, text } = await this.use('monitor_create', asked);
    expect(text).not.toMatch(/^Error/);
    return { conversationId, monitor: JSON.parse(text) as MonitorShown & { current: string; notes?: string[] } };
  }

  async viewOf(id: string): Promise<MonitorShown> {
    return ((await this.send('GET', `/api/monitors/${id}`)).body as { monitor: MonitorShown }).monitor;
  }

  async listed(query = '', client?: Client): Promise<readonly MonitorShown[]> {
    return ((await this.send('GET', `/api/monitors${query}`, client)).body as { monitors: MonitorShown[] }).monitors;
  }

  steer(id: string, action: string): Promise<Reply> {
    return this.send('POST', `/api/monitors/${id}/${action}`);
  }

  /** Resumes a monitor, which makes it check at once, and waits for that check. */
  async look(id: string): Promise<MonitorShown> {
    const { check_count: before } = await this.viewOf(id);
    await this.steer(id, 'pause');
    await this.steer(id, 'resume');
    await eventually(async () => (await this.viewOf(id)).check_count > before);
    return this.viewOf(id);
  }

  async queries(id: string): Promise<readonly Query[]> {
    return (await this.world.alice.json<{ queries: Query[] }>(`/api/get_single_conversation?id=${id}`)).queries;
  }

  async endAll(): Promise<void> {
    for (const { monitor_id: id } of await this.listed('?status=live')) await this.steer(id, 'cancel');
  }
}
