import { afterEach, describe, expect, it } from '@jest/globals';
import { Machine, ReferenceDevice } from '../../../test/support/reference-device.js';
import { call, say } from '../../../test/support/scripted-model-server.js';
import { eventually } from '../../../test/support/eventually.js';
import { openWorld, replyOf, type World } from '../../../test/support/world.js';

let world: World;
afterEach(() => world.close());

const codeOf = async (body: object = {}) =>
  ((await (await world.alice.post('/api/devices/pairings', body)).json()) as { user_code: string }).user_code;

describe('a service with devices', () => {
  it('limits how often an address tries codes', async () => {
    world = await openWorld({ REMOTE_DEVICE_REDEEMS_MAX_PER_MINUTE: '3' });
    const guess = () => replyOf(ReferenceDevice.redeem(world.service.url, 'AAAA-AAAA'));
    for (let tries = 0; tries < 3; tries++) expect((await guess()).status).toBe(404);
    const refused = await guess();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  });

  it('lets a code expire after the configured time', async () => {
    world = await openWorld({ REMOTE_DEVICE_PAIRING_TTL_SECONDS: '0.001' });
    const { device_code: deviceCode, user_code: code } = (await (await world.alice.post('/api/devices/pairings', {})).json()) as {
      device_code: string;
      user_code: string;
    };
    expect((await ReferenceDevice.redeem(world.service.url, code)).status).toBe(404);
    expect((await world.alice.get(`/api/devices/pairings/${deviceCode}`)).status).toBe(404);
  });

  it('requires, if so configured, that the machine has signed each request', async () => {
    world = await openWorld({ REMOTE_DEVICE_REQUIRE_SIGNATURE: 'true', REMOTE_DEVICE_REDEEMS_MAX_PER_MINUTE: '0' });
    const device = await ReferenceDevice.paired(world.service.url, await codeOf());
    expect((await device.poll()).status).toBe(202);
    const other = new ReferenceDevice(device.url, new Machine(), device.id, device.token, device.name);
    expect(await replyOf(other.poll())).toMatchObject({ status: 401, body: { success: false, error: 'fingerprint_mismatch' } });
    const unsigned = fetch(`${device.url}/api/devices/poll`, { headers: { authorization: `Bearer ${device.token}` } });
    expect(await replyOf(unsigned)).toMatchObject({ status: 401, body: { error: 'missing_signature' } });
    const path = `/api/devices/sessions/${'0'.repeat(32)}/invocations/inv_${'0'.repeat(32)}`;
    const json = { 'content-type': 'application/json' };
    // The signature covers the body, as JSON and as output lines.
    expect((await device.request('POST', `${path}/ack`, '{ "decision": "accepted" }', json)).status).toBe(404);
    expect((await device.request('POST', `${path}/output`, '{"stream":"stdout","chunk":"é"}')).status).toBe(404);
    const signature = device.machine.headers('POST', `${path}/ack`, '{}');
    const changed = device.request('POST', `${path}/ack`, '{"decision":"accepted"}', { ...json, ...signature });
    expect(await replyOf(changed)).toMatchObject({ status: 401, body: { error: 'invalid_signature' } });
  });

  it('ends an idle session, which gets heartbeats until then', async () => {
    world = await openWorld({ REMOTE_DEVICE_SESSION_IDLE_SECONDS: '0.3', SSE_KEEPALIVE_SECONDS: '0.1' });
    const device = await ReferenceDevice.paired(world.service.url, await codeOf({ approval_mode: 'full' }));
    let toolId = '';
    await eventually(async () => {
      const { tools } = await world.alice.json<{ tools: { id: string; name: string }[] }>('/api/get_tools');
      toolId = tools.find(({ name }) => name === 'remote_device')?.id ?? '';
      return toolId !== '';
    });
    const { id } = await world.agent({ tools: [toolId] });
    world.model.next([call('c1', 'run_command', { command: 'ls', timeout_ms: 1 })], say('Done.'));
    const asking = world.alice.stream({ question: 'Run it', agent_id: id });
    let ticket = '';
    await eventually(async () => {
      const response = await device.poll();
      if (response.status === 200) ticket = ((await response.json()) as { session_ticket: string }).session_ticket;
      return ticket !== '';
    });
    const response = await device.request('GET', `/api/devices/sessions/${ticket}/events`);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const text = await response.text();
    expect(text).toMatch(/^: connected\n\n(: keepalive\n\n)*event: invocation\nid: 1\ndata: \{"invocation_id":"inv_/);
    expect(text).toContain(': heartbeat\n\n');
    expect(text.endsWith('event: session_end\nid: 2\ndata: {"reason":"inactivity_timeout"}\n\n')).toBe(true);
    // A ticket opens only one session.
    expect((await device.request('GET', `/api/devices/sessions/${ticket}/events`)).status).toBe(410);
    await asking;
  });

  it('does not let a user create a tool for a device of another user', async () => {
    world = await openWorld();
    const device = await ReferenceDevice.paired(world.service.url, await codeOf());
    const tool = { name: 'remote_device', displayName: 'Mine', description: '', config: { device_id: device.id }, status: true };
    expect((await world.bob.post('/api/create_tool', tool)).status).toBe(400);
    expect((await world.alice.post('/api/create_tool', tool)).status).toBe(200);
  });
});
