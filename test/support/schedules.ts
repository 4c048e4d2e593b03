import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import { eventually } from './eventually.js';
import { type Reply, replyOf, type World } from './world.js';

export type Fields = Record<string, unknown>;
export type Made = Fields & Readonly<{ id: string }>;

/** Once a year, so it does not become due during a story. */
export const YEARLY = { instruction: 'Sum up the year.', cron: '0 9 31 12 *', timezone: 'Europe/Prague' };

const DUE_SOON_MS_MAX = 30_000;

/** Requests about schedules, by Alice unless another user is named. */
export class ScheduleCalls {
  private constructor(
    private readonly world: World,
    private readonly bearers: ReadonlyMap<string, string>,
  ) {}

  static async of(world: World): Promise<ScheduleCalls> {
    const tokens = world.service.service.app.get(SessionTokens, { strict: false });
    const bearers = new Map<string, string>();
    for (const userId of ['alice', 'bob', 'carol'])
      bearers.set(userId, `Bearer ${await tokens.issue({ subject: userId, roles: [] })}`);
    return new ScheduleCalls(world, bearers);
  }

  send(method: string, path: string, body?: unknown, as = 'alice'): Promise<Reply> {
    return replyOf(
      fetch(this.world.service.url + path, {
        method,
        headers: {
          authorization: this.bearers.get(as) ?? '',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  }

  createReply(agentId: string, fields: Fields = {}): Promise<Reply> {
    return this.send('POST', `/api/agents/${agentId}/schedules`, { ...YEARLY, ...fields });
  }

  async create(agentId: string, fields: Fields = {}): Promise<Made> {
    const { status, body } = await this.createReply(agentId, fields);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return (body as { schedule: Made }).schedule;
  }

  /**
   * Creates a schedule that is due once, a few seconds from now. If a slow service refuses because that time has passed, it tries
   * a later one.
   */
  async createDueSoon(agentId: string): Promise<Made & Readonly<{ run_at: string }>> {
    for (let ms = 3_000; ; ms *= 2) {
      const run_at = new Date(Date.now() + ms).toISOString();
      const { status, body } = await this.createReply(agentId, { trigger_type: 'once', cron: undefined, run_at });
      if (status === 201) return (body as { schedule: Made & { run_at: string } }).schedule;
      if (ms > DUE_SOON_MS_MAX) throw new Error(JSON.stringify(body));
    }
  }

  change(id: string, fields: Fields): Promise<Reply> {
    return this.send('PUT', `/api/schedules/${id}`, fields);
  }

  act(id: string, action: string, more: Fields = {}): Promise<Reply> {
    return this.send('PATCH', `/api/schedules/${id}`, { action, ...more });
  }

  runNow(id: string): Promise<Reply> {
    return this.send('POST', `/api/schedules/${id}/run`);
  }

  remove(id: string): Promise<Reply> {
    return this.send('DELETE', `/api/schedules/${id}`);
  }

  async scheduleOf(id: string): Promise<Fields> {
    return ((await this.send('GET', `/api/schedules/${id}`)).body as { schedule: Fields }).schedule;
  }

  async runsOf(id: string): Promise<readonly Fields[]> {
    return ((await this.send('GET', `/api/schedules/${id}/runs`)).body as { runs: Fields[] }).runs;
  }

  /** Waits until the newest run has ended. Returns it. */
  async endOfRun(id: string): Promise<Fields> {
    let newest: Fields | undefined;
    await eventually(async () => ((newest = (await this.runsOf(id))[0]), newest !== undefined && isOver(newest)));
    return newest!;
  }
}

const isOver = ({ status }: Fields): boolean => status !== 'pending' && status !== 'running';
