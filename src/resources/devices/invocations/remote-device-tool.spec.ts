import { expect, it, jest } from '@jest/globals';
import { failNextReads } from '../../../../test/support/away-store.js';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { eventually } from '../../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { callContext, callTool, usedTool } from '../../../../test/support/tool-calls.js';
import { tracesIn } from '../../../../test/support/traces.js';
import { cause } from '../../../../test/support/turns.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import type { CredentialUses } from '../../../platform/credentials/credential-uses.port.js';
import { deviceCodec } from '../device/device.codec.js';
import { type DeviceEvent, deviceStream } from '../device/device.events.js';
import { StoredDevices } from '../device/stored-devices.js';
import {
  GiveUpInvocationHandler,
  HandOutInvocation,
  HandOutInvocationHandler,
  INVOCATION_REQUESTED,
  ReceiveOutput,
  ReceiveOutputHandler,
  RequestInvocationHandler,
} from './device-invocation.commands.js';
import type { DeviceOutputs } from './device-outputs.js';
import { RemoteDeviceTool } from './remote-device-tool.js';

const at = '2026-01-01T00:00:00.000Z';
const deviceId = `dev_${'0'.repeat(32)}`;
const pairing = { deviceId, ownerId: 'alice', name: 'Box', description: '', approvalMode: 'full' } as const;
const events: readonly DeviceEvent[] = [
  { type: 'DevicePairingRequested', data: { ...pairing, requestedAt: at, expiresAt: at } },
  {
    type: 'DevicePaired',
    data: {
      ...pairing,
      machine: { hostname: 'box', os: 'linux', arch: 'x64', cliVersion: '1' },
      machineKey: { publicKey: '', fingerprint: '' },
      tokenSha256: '',
      toolId: 'tool-1',
      pairedAt: at,
    },
  },
];

/** A paired device and the tool that runs commands on it. `clock.offMs` sets the clock of the turn's process. */
async function world() {
  const store = new InMemoryEventStore();
  const timing = new VirtualTiming();
  const streams = new Streams(store, timing);
  await streams.append(deviceStream(deviceId), 'none', deviceCodec, events, cause);
  const signals = new InProcessSignals();
  const clock = { offMs: 0, now: () => new Date(Date.parse(at) + clock.offMs) };
  const commands = commandsOver(
    new RequestInvocationHandler(streams, signals),
    new HandOutInvocationHandler(streams, clock, signals),
    new ReceiveOutputHandler(streams, clock, signals),
    new GiveUpInvocationHandler(streams, clock, signals),
  );
  const devices = new StoredDevices(streams, clock, {} as CredentialUses);
  const outputs = { textOf: async () => ({ stdout: 'done', stderr: '' }), purge: async () => undefined };
  const tool = new RemoteDeviceTool(devices, outputs as unknown as DeviceOutputs, streams, commands, signals, clock, timing);
  const requested: string[] = [];
  signals.subscribe(INVOCATION_REQUESTED, (payload) => requested.push(payload.split(' ')[1]!));
  const context = callContext();
  const used = usedTool(tool, { config: { device_id: deviceId } });
  const call = (timeoutMs?: number) =>
    callTool(tool, 'run_command', { command: 'ls', ...(timeoutMs && { timeout_ms: timeoutMs }) }, { tool: used, context });
  const handOut = () => commands.execute(new HandOutInvocation(requested[0]!, deviceId, 's1', cause));
  const finish = { exitCode: 0, durationMs: 1, error: null, stdoutSha256: null, stderrSha256: null };
  const end = () => commands.execute(new ReceiveOutput(requested[0]!, deviceId, { output: undefined, finish }, cause));
  /** Virtual time would pass while a test waits for what the tool does. */
  const stopTime = () => jest.spyOn(timing, 'elapsedMs').mockReturnValue(timing.elapsedMs());
  return { store, timing, clock, context, requested, call, handOut, end, stopTime };
}

it('a command is waited for while the event store is away, and runs once', async () => {
  const { store, context, requested, call, handOut, end, stopTime } = await world();
  stopTime();
  const before = failNextReads(store, 3);
  const calling = call();
  await eventually(() => requested.length > 0);
  expect(before.mock.calls.length).toBeGreaterThan(3);
  // The store is away while the device works.
  const meanwhile = failNextReads(store, 3);
  meanwhile.mockClear();
  await eventually(() => meanwhile.mock.calls.length > 3);
  await handOut();
  await end();

  expect(await calling).toMatchObject({ exit_code: 0, stdout: 'done' });
  expect(new Set(requested).size).toBe(1);
  expect(tracesIn(context.signal)).toBe(0);
});

it('a command has its time, although the clock is set forward while the device runs it', async () => {
  const { timing, clock, requested, call, handOut, end, stopTime } = await world();
  stopTime();
  const calling = call();
  await eventually(() => requested.length > 0);
  clock.offMs = 600_000;
  expect(await handOut()).toBeDefined();
  const waits = timing.pauses.length;
  await eventually(() => timing.pauses.length > waits + 3);
  await end();
  expect(await calling).toMatchObject({ exit_code: 0, stdout: 'done' });
});

it('a command that no device takes has no more than its time, although the clock is set back meanwhile', async () => {
  const { timing, clock, requested, call } = await world();
  const calling = call(1_000);
  await eventually(() => requested.length > 0);
  clock.offMs = -600_000;
  const ended = await Promise.race([calling, timing.pause(60_000)]);
  clock.offMs = 600_000;
  expect(ended).toMatchObject({ exit_code: null, error: 'device did not respond (timed out)' });
  expect(timing.elapsedMs()).toBeLessThan(8_000);
});
