import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DeviceQueries } from '../../../../projections/devices/devices.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { CLOCKS_APART_MS_MAX } from '../../../kernel/clocks-apart.js';
import { Commands } from '../../../kernel/commands.js';
import { Ids } from '../../../kernel/ids.js';
import { KeyValue } from '../../../kernel/messaging/key-value.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { Timing } from '../../../kernel/timing.js';
import { withSignals } from '../../../kernel/with-signals.js';
import type { SseStream } from '../../../platform/http/reader-stream.js';
import type { DeviceCaller } from '../../identity/caller.js';
import type { DeviceId } from '../device/device.events.js';
import { DevicesOptions } from '../device/devices-options.js';
import { HandOutInvocation, INVOCATION_REQUESTED } from './device-invocation.commands.js';
import { type InvocationId, type InvocationRequested, isInvocationId } from './device-invocation.events.js';

/** How long a device has to open the session of a ticket. */
export const TICKET_SECONDS = 30;
/** How often a session queries the read model, because signals may be lost. */
const CHECKED_EVERY_MS = 750;
const HANDED_OUT_AT_ONCE_MAX = 16;
/** Sessions of one device that a process serves at once. */
const SESSIONS_PER_DEVICE_MAX = 4;
const TICKET = /^[0-9a-f]{32}$/;

/** The sessions in which devices receive commands. */
@Injectable()
export class DeviceSessions {
  private readonly open = new Map<DeviceId, number>();

  constructor(
    private readonly devices: DeviceQueries,
    private readonly keyValue: KeyValue,
    private readonly commands: Commands,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly timing: Timing,
    private readonly ids: Ids,
    private readonly options: DevicesOptions,
  ) {}

  /** A ticket for a session if a command waits; undefined otherwise. */
  async ticketFor(deviceId: DeviceId): Promise<string | undefined> {
    if ((await this.waitingFor(deviceId, 1)).length === 0) return undefined;
    const ticket = randomBytes(16).toString('hex');
    await this.keyValue.put(keyOf(ticket), deviceId, { ttlMs: TICKET_SECONDS * 1000 });
    return ticket;
  }

  /** Opens a session; a ticket opens only one. @throws Rejection device-ticket-invalid, too-many-requests */
  async enter(deviceId: DeviceId, ticket: string): Promise<void> {
    const entry = TICKET.test(ticket) ? await this.keyValue.get(keyOf(ticket)) : undefined;
    const isTaken = entry?.value === deviceId && (await this.keyValue.delete(keyOf(ticket), entry.revision));
    if (!isTaken) throw new Rejection('device-ticket-invalid', 'The ticket opens no session; poll for another one');
    if ((this.open.get(deviceId) ?? 0) >= SESSIONS_PER_DEVICE_MAX) {
      throw new Rejection('too-many-requests', 'Too many sessions of this device');
    }
  }

  /** Hands out commands until the reader disconnects or the session was idle for too long. */
  async serve(device: DeviceCaller, sse: SseStream): Promise<void> {
    const { deviceId } = device;
    this.open.set(deviceId, (this.open.get(deviceId) ?? 0) + 1);
    const sessionId = this.ids.next();
    const wake = new Wake();
    const unsubscribe = this.signals.subscribe(INVOCATION_REQUESTED, (payload) => {
      const [requested, invocationId] = payload.split(' ');
      if (requested === deviceId && isInvocationId(invocationId)) wake.up(invocationId);
    });
    try {
      await this.handOutAll(device, sessionId, sse, wake);
    } finally {
      unsubscribe();
      const left = this.open.get(deviceId)! - 1;
      if (left > 0) this.open.set(deviceId, left);
      else this.open.delete(deviceId);
      sse.end();
    }
  }

  private waitingFor(deviceId: DeviceId, max: number): Promise<readonly InvocationId[]> {
    return this.devices.waitingFor(deviceId, new Date(this.clock.now().getTime() - CLOCKS_APART_MS_MAX), max);
  }

  private async handOutAll(device: DeviceCaller, sessionId: string, sse: SseStream, wake: Wake): Promise<void> {
    const { sessionIdleMs, keepaliveMs } = this.options.settings;
    let eventId = 0;
    let [activeAt, spokeAt] = [this.timing.elapsedMs(), this.timing.elapsedMs()];
    await sse.comment('connected');
    while (!sse.signal.aborted) {
      const waiting = await this.waitingFor(device.deviceId, HANDED_OUT_AT_ONCE_MAX);
      for (const invocationId of new Set([...wake.named(), ...waiting])) {
        // After the next command the invocation counts as handed out, whether or not the device receives it.
        if (sse.signal.aborted) return;
        const request = await this.commands.execute(
          new HandOutInvocation(invocationId, device.deviceId, sessionId, device.cause),
        );
        if (!request) continue;
        activeAt = spokeAt = this.timing.elapsedMs();
        await sse.write(eventText('invocation', envelopeOf(request), ++eventId));
      }
      const now = this.timing.elapsedMs();
      if (now - activeAt >= sessionIdleMs) {
        await sse.write(eventText('session_end', { reason: 'inactivity_timeout' }, ++eventId));
        return;
      }
      if (now - spokeAt >= keepaliveMs / 2) {
        spokeAt = now;
        await sse.comment('heartbeat');
      }
      const waitMs = Math.min(CHECKED_EVERY_MS, sessionIdleMs, keepaliveMs / 2);
      await withSignals([wake.next, sse.signal], (signal) => this.timing.pause(waitMs, signal));
    }
  }
}

/** Ends a pause when a command was requested. */
class Wake {
  private readonly invocations = new Set<InvocationId>();
  private woken = new AbortController();

  up(invocationId: InvocationId): void {
    this.invocations.add(invocationId);
    this.woken.abort();
  }

  /** The commands that signals named since the last call. */
  named(): readonly InvocationId[] {
    const named = [...this.invocations];
    this.invocations.clear();
    if (this.woken.signal.aborted) this.woken = new AbortController();
    return named;
  }

  /** Aborts with the next command. */
  get next(): AbortSignal {
    return this.woken.signal;
  }
}

/** The data of an `invocation` event. */
const envelopeOf = ({
  invocationId,
  action,
  command,
  commandSha256,
  workingDirectory,
  timeoutMs,
  approvalMode,
  issuedAt,
  deadline,
}: InvocationRequested['data']) => ({
  invocation_id: invocationId,
  action,
  params: { command, working_directory: workingDirectory, timeout_ms: timeoutMs },
  approval_mode: approvalMode,
  issued_at: issuedAt,
  deadline,
  command_sha256: commandSha256,
});

/** The data of an event of a session: a command, or the reason for its end. */
export type SessionEvent = ReturnType<typeof envelopeOf> | Readonly<{ reason: 'inactivity_timeout' }>;

const eventText = (name: string, data: SessionEvent, id: number): string =>
  `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

/** The key of a ticket. A ticket is a secret, so the store holds only its hash. */
const keyOf = (ticket: string): string => `device-ticket.${createHash('sha256').update(ticket).digest('hex')}`;
