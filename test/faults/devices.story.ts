import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { recordsIn, streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { type Envelope, obeying, out, over, ReferenceDevice, type Session } from '../support/reference-device.js';
import { call, say } from '../support/scripted-model-server.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { Seeded } from '../support/seeded.js';
import { TurnLog } from '../support/turn-log.js';

const KILLS = Number(process.env['KILLS'] ?? 6);
/** Timeouts of commands: over before a restart is, and long after it. */
const [SHORT_MS, LONG_MS] = [1, 120_000];

type AuditEntry = Readonly<{ command: string; decision: string; finished_at: string | null; exit_code: number | null }>;

/**
 * A server is killed while a device is paired or a command is on its way: the command takes effect at most once, and always has
 * one record.
 */
export function devicesKillStory(makeBacking: MakeBacking): void {
  let running: ScriptedProcess;
  let log: TurnLog;
  let stop: AbortController;
  const serving: Promise<void>[] = [];

  beforeAll(async () => {
    const settings = { TITLE_MODEL_ID: 'none', REMOTE_DEVICE_REDEEMS_MAX_PER_MINUTE: '0' };
    running = await startScriptedProcess(settings, { backing: await makeBacking(), standbys: 1 });
    log = new TurnLog(running.backing.store);
  });
  afterAll(() => running.close());
  beforeEach(() => {
    stop = new AbortController();
    running.model.reset();
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(serving.splice(0));
  });

  const killed = async () => {
    await running.service.kill();
    await running.service.start();
  };
  const pairing = async () => {
    const response = await running.client.post('/api/devices/pairings', { name: 'Build', approval_mode: 'full' });
    return (await response.json()) as { device_code: string; user_code: string };
  };
  const paired = async () => ReferenceDevice.paired(running.service.url, (await pairing()).user_code);
  const toolsOf = async ({ id }: ReferenceDevice) => {
    const { tools } = await running.client.json<{ tools: { id: string; config?: Record<string, unknown> }[] }>('/api/get_tools');
    return tools.filter(({ config }) => config?.['device_id'] === id);
  };
  const agentWith = async (device: ReferenceDevice): Promise<string> => {
    await eventually(async () => (await toolsOf(device)).length === 1);
    const tools = (await toolsOf(device)).map(({ id }) => id);
    const fields = { name: 'Guide', description: 'Knows', chunks: 4, retriever: 'classic', prompt_id: 'default', tools };
    const made = await running.client.post('/api/create_agent', { ...fields, status: 'published' });
    return ((await made.json()) as { id: string }).id;
  };
  const serve = (device: ReferenceDevice) => void serving.push(device.serve(obeying(device), stop.signal));
  const audit = async ({ id }: ReferenceDevice): Promise<readonly AuditEntry[]> =>
    (await running.client.json<{ entries: AuditEntry[] }>(`/api/devices/${id}/audit`)).entries;

  /** Asks, and reads until the server is killed. Resolves with the message id as soon as it arrives. */
  async function asking(agentId: string, command: string, timeoutMs: number): Promise<string> {
    running.model.reset();
    running.model.next([call('c1', 'run_command', { command, timeout_ms: timeoutMs })]).always(say('Done.'));
    let shown = '';
    const asked = running.client.post('/stream', { question: 'Run it', agent_id: agentId, visibility: 'listed' });
    void asked.then((response) => streamed(response, (text) => ((shown = text), false))).catch(() => undefined);
    await eventually(() => shown.includes('"message_id"'));
    return /"message_id":"([^"]+)"/.exec(shown)![1]!;
  }

  /** Waits until the command has its one record with an end, and its turn one seal. */
  async function recordedOnce(device: ReferenceDevice, messageId: string): Promise<AuditEntry> {
    let entries: readonly AuditEntry[] = [];
    await eventually(async () => {
      entries = await audit(device);
      return entries.length === 1 && entries[0]!.finished_at !== null;
    });
    await eventually(async () => (await log.refresh()).turns.get(messageId)?.seals.length === 1);
    const journal = await log.journalOf(messageId);
    expect(recordsIn((await running.client.resume(messageId)).text)).toBe(journal);
    return entries[0]!;
  }

  it('a killed server keeps a pairing as it was before and after its code is redeemed', async () => {
    const { user_code: code } = await pairing();
    await killed();
    const device = await ReferenceDevice.paired(running.service.url, code);
    await killed();
    expect((await device.poll()).status).toBe(202);
    expect((await ReferenceDevice.redeem(running.service.url, code)).status).toBe(409);
    await eventually(async () => (await toolsOf(device)).length === 1);
  });

  it('a killed server gives a code to one device, whenever it is killed', async () => {
    const random = new Seeded(Number(process.env['TEST_SEED'] ?? 5));
    for (let kill = 0; kill < KILLS / 2; kill++) {
      const { device_code: deviceCode, user_code: code } = await pairing();
      const redeem = () =>
        ReferenceDevice.redeem(running.service.url, code).then(
          ({ status }) => status,
          () => 'lost' as const,
        );
      const redeeming = [redeem(), redeem()];
      await new Promise((resolve) => setTimeout(resolve, random.between(0, 30)));
      await killed();
      const statuses = [...(await Promise.all(redeeming)), await redeem()];
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
      const state = await running.client.json<{ status: string; device_id: string }>(`/api/devices/pairings/${deviceCode}`);
      expect(state.status).toBe('redeemed');
      // The list of devices follows the log.
      const listed = async () => {
        const { devices } = await running.client.json<{ devices: { id: string }[] }>('/api/devices');
        return devices.filter(({ id }) => id === state.device_id).length;
      };
      await eventually(async () => (await listed()) > 0);
      expect(await listed()).toBe(1);
    }
  });

  it('a killed server hands out a waiting command once, or not at all', async () => {
    const device = await paired();
    const messageId = await asking(await agentWith(device), 'ls', LONG_MS);
    await eventually(async () => (await audit(device)).length === 1);
    await killed();
    serve(device);
    expect(await recordedOnce(device, messageId)).toMatchObject({ decision: 'accepted', exit_code: 0 });
    expect(device.ran).toEqual(['ls']);
    expect(await log.journalOf(messageId)).toContain('outcome_unknown');
  });

  it('a killed server lets a waiting command expire if no device connects in time', async () => {
    const device = await paired();
    const messageId = await asking(await agentWith(device), 'ls', SHORT_MS);
    await eventually(async () => (await audit(device)).length === 1);
    await killed();
    expect(await recordedOnce(device, messageId)).toMatchObject({ decision: 'expired' });
    serve(device);
    expect((await device.poll()).status).toBe(202);
    expect(device.ran).toEqual([]);
  });

  it('a killed server accepts the acknowledgement of a device that received a command before the kill', async () => {
    const device = await paired();
    const messageId = await asking(await agentWith(device), 'ls', LONG_MS);
    const session = await device.session();
    const envelope = await session.next();
    await killed();
    serve(device);
    expect((await session.ack(envelope)).status).toBe(200);
    await killed();
    expect((await session.ack(envelope)).status).toBe(409);
    expect((await session.output(envelope, [out('done'), over(0)])).status).toBe(200);
    expect(await recordedOnce(device, messageId)).toMatchObject({ decision: 'accepted', exit_code: 0 });
    expect(device.ran).toEqual([]);
  });

  type Step = Readonly<[name: string, take: (session: Session, envelope: Envelope) => Promise<unknown>, decision: string]>;
  const STEPS: readonly Step[] = [
    ['was handed out', () => Promise.resolve(), 'outcome_unknown'],
    ['was acknowledged', (session, envelope) => session.ack(envelope), 'outcome_unknown'],
    [
      'is sending its output',
      async (session, envelope) => {
        await session.ack(envelope);
        await session.output(envelope, [out('half')]);
      },
      'outcome_unknown',
    ],
    [
      'has ended',
      async (session, envelope) => {
        await session.ack(envelope);
        await session.output(envelope, [out('whole'), over(0)]);
      },
      'accepted',
    ],
  ];

  it.each(STEPS)('a killed server does not hand out again a command that %s', async (_, take, decision) => {
    const device = await paired();
    const messageId = await asking(await agentWith(device), 'ls', SHORT_MS);
    const session = await device.session();
    const envelope = await session.next();
    await take(session, envelope);
    await killed();
    serve(device);
    expect(await recordedOnce(device, messageId)).toMatchObject({ decision });
    expect(device.ran).toEqual([]);
  });

  it(`a server that is killed at ${KILLS} random moments runs each command at most once`, async () => {
    const random = new Seeded(Number(process.env['TEST_SEED'] ?? 7));
    const device = await paired();
    const agentId = await agentWith(device);
    serve(device);
    for (let kill = 0; kill < KILLS; kill++) {
      const command = `run ${kill}`;
      const messageId = await asking(agentId, command, SHORT_MS);
      await new Promise((resolve) => setTimeout(resolve, random.between(0, 120)));
      await killed();
      await eventually(async () => (await log.refresh()).turns.get(messageId)?.seals.length === 1);
      const recorded = async () => (await audit(device)).filter((entry) => entry.command === command);
      const ran = () => device.ran.filter((each) => each === command).length;
      // If the server was killed before it recorded the call, there is no record. A command that ran is recorded; the list of
      // records is a read model, which may be behind the log for a moment.
      await eventually(async () => {
        const records = await recorded();
        return records.length >= ran() && records.every(({ finished_at: finishedAt }) => finishedAt !== null);
      });
      expect((await recorded()).length).toBeLessThanOrEqual(1);
      expect(ran()).toBeLessThanOrEqual(1);
    }
    // The list has the records of all earlier commands once it has that of a later one.
    await asking(agentId, 'last', LONG_MS);
    await eventually(async () => {
      const records = await audit(device);
      return (
        records.some(({ command }) => command === 'last') && records.every(({ finished_at: finishedAt }) => finishedAt !== null)
      );
    });
    const commands = (await audit(device)).map(({ command }) => command);
    expect(commands).toEqual(expect.arrayContaining(device.ran));
    expect(new Set(commands).size).toBe(commands.length);
    expect(new Set(device.ran).size).toBe(device.ran.length);
  }, 300_000);
}
