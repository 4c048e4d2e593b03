import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { LOG_START } from '../../src/kernel/event-sourcing/event-store.js';
import { type Asked, askOver } from '../support/asked.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { err, Machine, obeying, out, over, ReferenceDevice, type Handling } from '../support/reference-device.js';
import { call, say } from '../support/scripted-model-server.js';
import { replyOf, type World } from '../support/world.js';

/** Longer than output may be in transit: by then its first half has arrived, even on a busy machine. */
const DIES_WITHIN_MS = 5_000;

/** Two processes over one log, or one as both: where users ask, and where devices connect. */
export type DevicePlaces = Readonly<{ asks: World; serves: World; close(): Promise<void> }>;

type AuditEntry = Readonly<Record<string, unknown>>;

/** Remote devices: how they are paired, what they may run, and how it is recorded. */
export function devicesStory(open: () => Promise<DevicePlaces>): void {
  let places: DevicePlaces;
  let world: World;
  let stop: AbortController;
  const serving: Promise<void>[] = [];

  beforeAll(async () => {
    places = await open();
    world = places.asks;
  });
  afterAll(() => places.close());
  beforeEach(() => {
    stop = new AbortController();
    world.model.reset();
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(serving.splice(0));
  });

  const pairing = async (body: object = {}, as = world.alice) =>
    (await (await as.post('/api/devices/pairings', body)).json()) as { device_code: string; user_code: string };

  const paired = async (body: object = {}): Promise<ReferenceDevice> =>
    ReferenceDevice.paired(places.serves.service.url, (await pairing({ name: 'Build', ...body })).user_code);

  const toolOf = async ({ id }: ReferenceDevice): Promise<string> => {
    let toolId: string | undefined;
    await eventually(async () => {
      const { tools } = await world.alice.json<{ tools: { id: string; config: Record<string, unknown> }[] }>('/api/get_tools');
      toolId = tools.find(({ config }) => config?.['device_id'] === id)?.id;
      return toolId !== undefined;
    });
    return toolId!;
  };

  const agentWith = async (device: ReferenceDevice, fields: object = {}) =>
    world.agent({ tools: [await toolOf(device)], ...fields });

  const ask = async (device: ReferenceDevice, args: object, agent?: { id: string }): Promise<Asked> => {
    world.model.reset();
    world.model.next([call('c1', 'run_command', args)], say('Done.'));
    const { id } = agent ?? (await agentWith(device));
    return askOver('/stream', world.alice, { question: 'Run it', agent_id: id, visibility: 'listed' });
  };

  const decide = ({ conversationId }: Asked, decision: string) =>
    askOver('/stream', world.alice, { conversation_id: conversationId, tool_actions: [{ call_id: 'c1', decision }] });

  const serve = (device: ReferenceDevice, handle: Handling = obeying(device)): void =>
    void serving.push(device.serve(handle, stop.signal));

  const audit = async ({ id }: ReferenceDevice): Promise<readonly AuditEntry[]> =>
    (await world.alice.json<{ entries: AuditEntry[] }>(`/api/devices/${id}/audit`)).entries;

  const auditEnding = async (device: ReferenceDevice, entry: object): Promise<AuditEntry> => {
    let found: AuditEntry | undefined;
    await eventually(async () => {
      [found] = await audit(device);
      if (found === undefined || found['finished_at'] === null) return false;
      // The newest entry may not be listed yet although an older one is.
      return !('decision' in entry) || found['decision'] === entry.decision;
    });
    expect(found).toMatchObject(entry);
    return found!;
  };

  const resultOf = ({ toolCalls }: Asked) => JSON.parse(toolCalls[0]!.result!) as Record<string, unknown>;

  describe('pairing', () => {
    it('gives the device a token once, and the user the device', async () => {
      const wanted = await replyOf(world.alice.post('/api/devices/pairings', { name: ' Build ', description: 'Builds things' }));
      expect(wanted.body).toEqual({
        device_code: expect.stringMatching(/^dc_[0-9a-f]{32}$/),
        user_code: expect.stringMatching(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/),
        verification_uri: expect.any(String),
        expires_in: 600,
        interval: 3,
      });
      const { device_code: deviceCode, user_code: userCode } = wanted.body as { device_code: string; user_code: string };
      const path = `/api/devices/pairings/${deviceCode}`;
      expect(await world.alice.json(path)).toEqual({
        device_code: deviceCode,
        user_code: userCode,
        status: 'pending',
        device_id: null,
        device_name: null,
      });
      expect(await replyOf(world.bob.get(path))).toMatchObject({ status: 404, body: { error: 'pairing_not_found' } });
      const typed = ` ${userCode.toLowerCase().replace('-', ' ')}`;
      const device = await ReferenceDevice.paired(places.serves.service.url, typed);
      expect(device.name).toMatch(/^Build-[0-9a-f]{4}$/);
      expect(device.token).toMatch(/^tok_/);
      expect(await world.alice.json(path)).toMatchObject({ status: 'redeemed', device_id: device.id, device_name: device.name });
      const record = await world.alice.json(`/api/devices/${device.id}`);
      expect(record).toEqual({
        id: device.id,
        name: device.name,
        hostname: 'build-1',
        os: 'linux',
        arch: 'arm64',
        cli_version: '1.0.0',
        approval_mode: 'ask',
        description: 'Builds things',
        status: 'active',
        paired_at: expect.any(String),
        last_seen_at: null,
        revoked_at: null,
      });
      const { devices } = await world.alice.json<{ devices: { id: string }[] }>('/api/devices');
      expect(devices).toContainEqual(record);
      expect((await world.bob.json<{ devices: object[] }>('/api/devices')).devices).toEqual([]);
      expect(await replyOf(world.bob.get(`/api/devices/${device.id}`))).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
      // The use of a device is recorded asynchronously.
      await eventually(async () => {
        const me = (await (await device.request('GET', '/api/devices/me')).json()) as Record<string, unknown>;
        return me['id'] === device.id && typeof me['last_seen_at'] === 'string';
      });
      await toolOf(device);
    });

    it('succeeds for exactly one of two devices that redeem a code at once', async () => {
      const { user_code: code } = await pairing();
      const urls = [places.asks.service.url, places.serves.service.url];
      const replies = await Promise.all([...urls, ...urls].map((url) => replyOf(ReferenceDevice.redeem(url, code))));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      expect(replies.find(({ status }) => status === 409)!.body).toMatchObject({
        success: false,
        error: 'pairing_already_redeemed',
      });
    });

    it('refuses invalid requests without using up the code', async () => {
      const { user_code: code } = await pairing();
      const { url } = places.serves.service;
      const refused = async (userCode: string, more: object) => {
        const { status, body } = await replyOf(ReferenceDevice.redeem(url, userCode, new Machine(), more));
        return [status, (body as { error: string }).error];
      };
      expect(await refused('ABC', {})).toEqual([400, 'invalid_user_code']);
      expect(await refused(code, { machine_pubkey: undefined })).toEqual([400, 'missing_machine_pubkey']);
      expect(await refused(code, { machine_pubkey: 'bm90IGEga2V5' })).toEqual([400, 'invalid_machine_pubkey']);
      expect(await refused('AAAA-AAAA', {})).toEqual([404, 'pairing_not_found']);
      expect((await ReferenceDevice.redeem(url, code)).status).toBe(200);
    });

    it('can be cancelled, and is refused with invalid fields', async () => {
      const { device_code: deviceCode, user_code: code } = await pairing();
      const path = `/api/devices/pairings/${deviceCode}`;
      expect(await replyOf(world.bob.delete(path))).toMatchObject({ status: 404 });
      expect(await replyOf(world.alice.delete(path))).toMatchObject({ status: 200, body: { success: true } });
      expect(await replyOf(world.alice.delete(path))).toMatchObject({ status: 404 });
      expect((await ReferenceDevice.redeem(places.serves.service.url, code)).status).toBe(404);
      const wrong = async (body: object) => (await replyOf(world.alice.post('/api/devices/pairings', body))).body;
      expect(await wrong({ name: 7 })).toMatchObject({ success: false, error: 'invalid_name' });
      expect(await wrong({ description: ['Builds'] })).toMatchObject({ success: false, error: 'invalid_description' });
      expect(await wrong({ approval_mode: 'never' })).toMatchObject({ error: 'invalid_approval_mode' });
      expect(await replyOf(world.nobody.post('/api/devices/pairings', {}))).toMatchObject({
        status: 401,
        body: { error: 'authentication_required' },
      });
    });
  });

  describe('a device', () => {
    it('is renamed and given another approval mode only by its owner', async () => {
      const device = await paired();
      const path = `/api/devices/${device.id}`;
      const change = async (body: object, as = world.alice) => {
        const { status, body: answer } = await replyOf(as.patch(path, body));
        return [status, (answer as Record<string, unknown>)[status === 200 ? 'approval_mode' : 'error']];
      };
      expect(await change({ name: '' })).toEqual([400, 'invalid_name']);
      expect(await change({ description: 1 })).toEqual([400, 'invalid_description']);
      expect(await change({ approval_mode: 'x' })).toEqual([400, 'invalid_approval_mode']);
      expect(await change({ other: 1 })).toEqual([400, 'no_fields']);
      expect(await change({ name: 'Mine' }, world.bob)).toEqual([404, 'not_found']);
      expect(await change({ name: 'New', description: ' Long ', approval_mode: 'full' })).toEqual([200, 'full']);
      expect(await world.alice.json(path)).toMatchObject({ name: 'New', description: 'Long', approval_mode: 'full' });
      await eventually(async () => {
        const { tools } = await world.alice.json<{ tools: { displayName: string }[] }>('/api/get_tools');
        return tools.some(({ displayName }) => displayName === 'Remote device — New');
      });
      expect(await replyOf(world.nobody.get('/api/devices'))).toMatchObject({ status: 401, body: { error: 'auth' } });
    });

    it('keeps the normalised commands that run without approval', async () => {
      const device = await paired();
      const path = `/api/devices/${device.id}/auto-approve`;
      const send = async (method: string, body: object, as = world.alice) => {
        const headers = { 'content-type': 'application/json' };
        return (await replyOf(as.request(path, { method, headers, body: JSON.stringify(body) }))).body;
      };
      expect(await send('POST', {})).toMatchObject({ error: 'missing_command' });
      expect(await send('POST', { command: 7 })).toMatchObject({ error: 'invalid_command' });
      expect(await send('POST', { command: ' ; ' })).toMatchObject({ error: 'invalid_command' });
      expect(await send('POST', { command: 'ls /tmp' }, world.bob)).toMatchObject({ error: 'not_found' });
      expect(await send('POST', { command: 'ls /tmp' })).toEqual({ pattern: 'ls *' });
      expect(await send('POST', { pattern: 'git status && whoami' })).toEqual({ pattern: 'git status && whoami' });
      expect(await world.alice.json(path)).toEqual({ patterns: ['ls *', 'git status && whoami'] });
      expect(await send('DELETE', {})).toMatchObject({ error: 'missing_pattern' });
      expect(await send('DELETE', { pattern: 'ls *' })).toEqual({ success: true });
      expect(await send('DELETE', { pattern: 'ls *' })).toEqual({ success: false });
    });

    it('is admitted with its token only to its own routes', async () => {
      const device = await paired();
      const { url } = places.serves.service;
      const withBearer = (bearer?: string) => new Client(url, bearer === undefined ? {} : { authorization: `Bearer ${bearer}` });
      expect((await device.poll()).status).toBe(202);
      expect(await replyOf(withBearer().get('/api/devices/poll'))).toMatchObject({
        status: 401,
        body: { error: 'missing_token' },
      });
      for (const wrong of ['tok_x', `${device.token.slice(0, -1)}${device.token.endsWith('A') ? 'B' : 'A'}`]) {
        expect(await replyOf(withBearer(wrong).get('/api/devices/me'))).toMatchObject({
          status: 401,
          body: { error: 'invalid_token' },
        });
      }
      for (const path of ['/api/devices', `/api/devices/${device.id}`, '/api/get_conversations', '/api/user/me']) {
        expect((await withBearer(device.token).get(path)).status).toBe(401);
      }
      for (const path of ['/api/devices/poll', '/api/devices/me']) expect((await world.alice.get(path)).status).toBe(401);
      const ticket = '0'.repeat(32);
      expect(await replyOf(device.request('GET', `/api/devices/sessions/${ticket}/events`))).toMatchObject({
        status: 410,
        body: { error: 'session_ticket_invalid' },
      });
    });
  });

  describe('a command', () => {
    it('waits for approval, runs once approved, and is recorded', async () => {
      const device = await paired();
      serve(device);
      const paused = await ask(device, { command: 'ls /tmp', working_directory: '/srv' });
      expect(paused.pending).toMatchObject([{ call_id: 'c1', action_name: 'run_command', arguments: { command: 'ls /tmp' } }]);
      expect(device.ran).toEqual([]);
      const done = await decide(paused, 'approved');
      expect(device.ran).toEqual(['ls /tmp']);
      expect(done.toolCalls).toMatchObject([{ call_id: 'c1', status: 'completed', device_id: device.id }]);
      expect(resultOf(done)).toEqual({
        exit_code: 0,
        stdout: 'ran ls /tmp',
        stderr: '',
        duration_ms: 7,
        device_name: device.name,
        error: null,
      });
      await auditEnding(device, {
        device_id: device.id,
        user_id: await world.idOf('alice'),
        conversation_id: done.conversationId,
        action: 'run_command',
        command: 'ls /tmp',
        command_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        working_dir: '/srv',
        approval_mode: 'ask',
        approved_by: `user:${await world.idOf('alice')}`,
        decision: 'accepted',
        decision_reason: 'user_approval_required',
        exit_code: 0,
        stdout_bytes: 11,
        error: null,
      });
    });

    it.each([
      ['redact', '[REDACTED]'],
      ['block', 'withheld by a content policy'],
    ])('is checked by the agent’s guardrails for secrets in its output: %s', async (action, shown) => {
      const device = await paired({ approval_mode: 'full' });
      const secret = `AKIA${'QRST'.repeat(4)}`;
      // The secret is split over two chunks and two streams.
      serve(device, async (envelope, session) => {
        await session.ack(envelope);
        await session.output(envelope, [out(`key=${secret.slice(0, 9)}`), err(`also ${secret}`)]);
        await session.output(envelope, [out(secret.slice(9)), over(0)]);
      });
      const controls = [{ check: 'secrets', stage: 'tool_result', action }];
      const guardrails = { enabled: true, mode: 'scan_all', block_message: 'No.', controls };
      const asked = await ask(device, { command: 'env' }, await agentWith(device, { config: { guardrails } }));
      const told = JSON.stringify(world.model.completions.at(-1)!.body.messages);
      expect([told, asked.records].map((text) => text.includes(secret))).toEqual([false, false]);
      expect(told).toContain(shown);
      await auditEnding(device, { exit_code: 0, stdout_bytes: 24, stderr_bytes: 25 });
      for await (const page of world.backing.store.readAll({ after: LOG_START }))
        for (const { data } of page.events) expect(data).not.toContain(secret);
    });

    it('reaches no device when it is denied', async () => {
      const device = await paired();
      const done = await decide(await ask(device, { command: 'ls' }), 'denied');
      expect(done.toolCalls).toMatchObject([{ status: 'denied' }]);
      expect(await audit(device)).toEqual([]);
      expect((await device.poll()).status).toBe(202);
    });

    it('runs without approval if the device or the normalised command is trusted', async () => {
      const full = await paired({ approval_mode: 'full' });
      serve(full);
      expect(resultOf(await ask(full, { command: 'make all' }))).toMatchObject({ exit_code: 0 });
      await auditEnding(full, { approval_mode: 'full', approved_by: 'device', decision_reason: 'full_access_passthrough' });
      const sticky = await paired();
      serve(sticky);
      await world.alice.post(`/api/devices/${sticky.id}/auto-approve`, { command: 'make all' });
      expect(resultOf(await ask(sticky, { command: 'make all' }))).toMatchObject({ exit_code: 0 });
      await auditEnding(sticky, { approval_mode: 'full', decision_reason: 'sticky_auto_approve' });
      expect((await ask(sticky, { command: 'make all $(rm -rf x)' })).pending).toHaveLength(1);
      expect((await ask(sticky, { command: 'make all; rm x' })).pending).toHaveLength(1);
    });

    it('of the denylist waits for approval on every device', async () => {
      const device = await paired({ approval_mode: 'full' });
      serve(device);
      const paused = await ask(device, { command: 'cd / && rm -rf /' });
      expect(paused.pending).toHaveLength(1);
      expect(device.ran).toEqual([]);
      expect((await decide(paused, 'approved')).toolCalls).toMatchObject([{ status: 'completed' }]);
      await auditEnding(device, { approval_mode: 'ask', decision_reason: 'denylist_forced_prompt' });
    });

    it('reaches no device for an API caller unless its owner allows that, and never if it is on the denylist', async () => {
      const device = await paired({ approval_mode: 'full' });
      serve(device);
      const toolId = await toolOf(device);
      const shut = await world.agent({ tools: [toolId] });
      const open = await world.agent({ tools: [toolId], config: { api_write_allowlist: [`${toolId}:run_command`] } });
      const asking = async (key: string, command: string) => {
        world.model.reset();
        world.model.next([call('c1', 'run_command', { command })], say('Done.'));
        return (await askOver('/stream', world.nobody, { question: 'Run it', api_key: key })).toolCalls;
      };
      expect(await asking(shut.key, 'ls')).toMatchObject([{ status: 'denied', error_type: 'tool_not_allowed' }]);
      expect(await asking(open.key, 'rm -rf /')).toMatchObject([{ status: 'denied', error_type: 'tool_not_allowed' }]);
      expect(device.ran).toEqual([]);
      expect(await asking(open.key, 'ls')).toMatchObject([{ status: 'completed' }]);
      expect(device.ran).toEqual(['ls']);
    });

    it('may be denied by the device, and may fail there', async () => {
      const device = await paired({ approval_mode: 'full' });
      serve(device, async (envelope, session) => {
        if (envelope.params.command === 'ls') return void (await session.ack(envelope, 'denied', 'Not here'));
        await session.ack(envelope, 'auto_approved');
        await session.output(envelope, [out('some '), err('bad')]);
        await session.output(envelope, [out('text'), over(2)], { gzip: true });
      });
      const denied = await ask(device, { command: 'ls' });
      expect(denied.toolCalls).toMatchObject([{ status: 'error' }]);
      expect(resultOf(denied)).toMatchObject({ error: 'denied by the device: Not here', exit_code: null });
      await auditEnding(device, { decision: 'denied', error: 'Not here' });
      expect(resultOf(await ask(device, { command: 'make' }))).toMatchObject({
        exit_code: 2,
        stdout: 'some text',
        stderr: 'bad',
        error: null,
      });
      await auditEnding(device, { decision: 'auto_approved', exit_code: 2, stdout_bytes: 9, stderr_bytes: 3 });
    });

    it('expires if no device takes it in time, and is not handed out afterwards', async () => {
      const device = await paired({ approval_mode: 'full' });
      const done = await ask(device, { command: 'ls', timeout_ms: 1 });
      expect(done.toolCalls).toMatchObject([{ status: 'error' }]);
      expect(resultOf(done)).toMatchObject({ error: 'device did not respond (timed out)' });
      await auditEnding(device, { decision: 'expired', error: 'deadline', started_at: null });
      expect((await device.poll()).status).toBe(202);
    });

    it('has an unknown outcome, recorded once, if the device crashes during its output', async () => {
      const device = await paired({ approval_mode: 'full' });
      const agent = await agentWith(device);
      const asking = ask(device, { command: 'ls', timeout_ms: DIES_WITHIN_MS }, agent);
      const session = await device.session();
      const envelope = await session.next();
      await session.ack(envelope);
      await session.output(envelope, [out('half')]);
      await session.close();
      const { toolCalls } = await asking;
      expect(toolCalls).toMatchObject([
        { status: 'error', error_type: 'outcome_unknown', error: 'device did not respond (timed out)' },
      ]);
      await auditEnding(device, { decision: 'outcome_unknown', stdout_bytes: 4, exit_code: null });
      // When the device returns, it does not get the command again, and its report is too late.
      expect((await device.poll()).status).toBe(202);
      expect(await replyOf(session.output(envelope, [over(0)]))).toMatchObject({
        status: 409,
        body: { error: 'invocation_ended' },
      });
    });

    it('is handed to one of two sessions, and acknowledged once', async () => {
      const device = await paired({ approval_mode: 'full' });
      const other = new ReferenceDevice(places.asks.service.url, device.machine, device.id, device.token, device.name);
      const agent = await agentWith(device);
      const asking = ask(device, { command: 'ls' }, agent);
      let statuses: number[] = [];
      const handle: Handling = async (envelope, session) => {
        device.ran.push(envelope.params.command);
        statuses = (await Promise.all([1, 2, 3].map(() => session.ack(envelope)))).map(({ status }) => status);
        await session.output(envelope, [over(0)]);
      };
      serve(device, handle);
      serve(other, handle);
      expect((await asking).toolCalls).toMatchObject([{ status: 'completed' }]);
      expect(device.ran).toEqual(['ls']);
      expect(statuses.sort()).toEqual([200, 409, 409]);
    });

    it('is reported only by its own device, with known events', async () => {
      const [device, stranger] = [await paired({ approval_mode: 'full' }), await paired()];
      const asking = ask(device, { command: 'ls' }, await agentWith(device));
      const session = await device.session();
      const envelope = await session.next();
      expect(envelope).toEqual({
        invocation_id: expect.stringMatching(/^inv_[0-9a-f]{32}$/),
        action: 'run_command',
        params: { command: 'ls', working_directory: '', timeout_ms: 30_000 },
        approval_mode: 'full',
        issued_at: expect.any(String),
        deadline: expect.any(String),
        command_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      const id = envelope.invocation_id;
      const path = `/api/devices/sessions/${session.ticket}/invocations/${id}`;
      const json = { 'content-type': 'application/json' };
      const ack = (by: ReferenceDevice, decision: string) =>
        replyOf(by.request('POST', `${path}/ack`, JSON.stringify({ decision }), json));
      expect(await ack(device, 'maybe')).toMatchObject({ status: 400, body: { error: 'invalid_decision' } });
      expect(await ack(stranger, 'accepted')).toMatchObject({ status: 404, body: { error: 'invocation_not_found' } });
      const send = (by: ReferenceDevice, body: Buffer, headers = {}) =>
        replyOf(by.request('POST', `${path}/output`, body, headers));
      const gzip = { 'content-encoding': 'gzip' };
      expect(await send(stranger, Buffer.from('{}'))).toMatchObject({ status: 404, body: { error: 'invocation_not_found' } });
      expect(await send(device, Buffer.from('no gzip'), gzip)).toMatchObject({ status: 400, body: { error: 'invalid_gzip' } });
      const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x'));
      expect(await send(device, bomb, gzip)).toMatchObject({ status: 413, body: { error: 'output_too_large' } });
      expect((await ack(device, 'accepted')).status).toBe(200);
      const lines = `${JSON.stringify(out('ok'))}\nno json\n${JSON.stringify(over(0))}\n`;
      expect((await send(device, Buffer.from(lines))).body).toEqual({ success: true, received: 2 });
      expect((await asking).toolCalls).toMatchObject([{ status: 'completed' }]);
      await session.close();
    });

    it('is cancelled with its turn while no device has it', async () => {
      const device = await paired({ approval_mode: 'full' });
      const agent = await agentWith(device);
      world.model.reset();
      world.model.next([call('c1', 'run_command', { command: 'ls', timeout_ms: 600_000 })], say('Done.'));
      let shown = '';
      const asking = world.alice.stream({ question: 'Run it', agent_id: agent.id }, (text) => ((shown = text), false));
      // A turn that is stopped before its command is recorded has no command.
      await eventually(async () => (await audit(device)).length === 1);
      await world.alice.post(`/api/messages/${/"message_id":"([^"]+)"/.exec(shown)![1]!}/cancel`, {});
      expect((await asking).frames.at(-1)!.data).toMatchObject({ type: 'error', code: 'stopped' });
      await auditEnding(device, { decision: 'expired', error: 'stopped' });
      expect((await device.poll()).status).toBe(202);
    });
  });

  describe('a revoked device', () => {
    it('loses its session, its tool and its patterns, and its running command has an unknown outcome', async () => {
      const device = await paired({ approval_mode: 'full' });
      const toolId = await toolOf(device);
      await world.alice.post(`/api/devices/${device.id}/auto-approve`, { command: 'ls' });
      const asking = ask(device, { command: 'ls', timeout_ms: 600_000 }, await agentWith(device));
      const session = await device.session();
      const envelope = await session.next();
      await session.ack(envelope);
      const closed = (async () => {
        for await (const event of session.events()) if (event.name === 'invocation') throw new Error('Another command came.');
      })();
      expect(await replyOf(world.bob.delete(`/api/devices/${device.id}`))).toMatchObject({ status: 404 });
      expect(await replyOf(world.alice.delete(`/api/devices/${device.id}`))).toMatchObject({
        status: 200,
        body: { success: true },
      });
      await closed;
      expect((await asking).toolCalls).toMatchObject([{ status: 'error', error_type: 'outcome_unknown' }]);
      await auditEnding(device, { decision: 'outcome_unknown', error: 'device_revoked' });
      expect(await replyOf(session.output(envelope, [over(0)]))).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
      expect((await device.poll()).status).toBe(401);
      expect(await world.alice.json(`/api/devices/${device.id}`)).toMatchObject({
        status: 'revoked',
        revoked_at: expect.any(String),
      });
      expect(await world.alice.json(`/api/devices/${device.id}/auto-approve`)).toEqual({ patterns: [] });
      expect(await replyOf(world.alice.delete(`/api/devices/${device.id}`))).toMatchObject({ status: 404 });
      await eventually(async () => {
        const { tools } = await world.alice.json<{ tools: { id: string }[] }>('/api/get_tools');
        return tools.every(({ id }) => id !== toolId);
      });
    });
  });

  it('stores no tokens, codes or output in the log', async () => {
    const { device_code: deviceCode, user_code: code } = await pairing({ approval_mode: 'full' });
    const device = await ReferenceDevice.paired(places.serves.service.url, code);
    serve(
      device,
      obeying(device, () => [out('the-output-of-it'), over(0)]),
    );
    expect(resultOf(await ask(device, { command: 'ls' }))).toMatchObject({ stdout: 'the-output-of-it' });
    const secrets = [deviceCode, code, code.replace('-', ''), device.token];
    for await (const page of world.backing.store.readAll({ after: LOG_START })) {
      for (const { stream, data } of page.events) {
        for (const secret of secrets) expect(data).not.toContain(secret);
        if (stream.startsWith('device')) expect(data).not.toContain('the-output-of-it');
      }
    }
  });
}
