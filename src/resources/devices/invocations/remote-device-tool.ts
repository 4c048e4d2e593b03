import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { ANSWER_PATIENCE_MS, type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { Timing } from '../../../kernel/timing.js';
import { withSignals } from '../../../kernel/with-signals.js';
import {
  type CallArguments,
  filledAction,
  isLeftOut,
  numberArgument,
  textArgument,
  unknownAction,
} from '../../tools/toolbox/call-arguments.policy.js';
import type { ActionDefinition, ToolDefinition } from '../../tools/toolbox/tool.events.js';
import {
  type ApprovalNeed,
  type CallContext,
  type ConfigField,
  type Configured,
  OutcomeUnknown,
  ToolFailed,
  ToolKind,
  type UsedTool,
} from '../../tools/toolbox/tool-kind.port.js';
import { approverOf, decideApproval } from './approval.policy.js';
import { COMMAND_CHARACTERS_MAX } from '../device/command.policy.js';
import type { Device } from '../device/device.decider.js';
import { isDeviceId } from '../device/device.events.js';
import { DeviceOutputs } from './device-outputs.js';
import { GiveUpInvocation, INVOCATION_CHANGED, RequestInvocation } from './device-invocation.commands.js';
import { type Invocation, invocation } from './device-invocation.decider.js';
import { type GaveUp, type InvocationId, type InvocationRequested, invocationStream } from './device-invocation.events.js';
import { StoredDevices } from '../device/stored-devices.js';

const TIMEOUT_MS_DEFAULT = 30_000;
const TIMEOUT_MS_MAX = 600_000;
/** Added to the timeout of a command for its way to the device and the way of its result back. */
const TRAVEL_MS = 5_000;
const PATH_CHARACTERS_MAX = 4_096;
/** How often a call reads the log, because signals may be lost. */
const CHECKED_EVERY_MS = 500;

const RUN_COMMAND = 'run_command';
const TIMED_OUT = 'device did not respond (timed out)';

const runCommand = (description: string): ActionDefinition => ({
  ...filledAction(RUN_COMMAND, description, 'write', {
    command: { type: 'string', description: 'Shell command to run.' },
    working_directory: { type: 'string', description: 'Working directory on the remote device.', optional: true },
    timeout_ms: { type: 'integer', description: `Timeout in milliseconds (at most ${TIMEOUT_MS_MAX}).`, optional: true },
  }),
  idempotent: false,
});

/**
 * Runs commands on a device that its owner has paired. A call has one invocation, whose id is derived from the call. A repeated
 * call finds that invocation and does not run the command again.
 */
@Injectable()
export class RemoteDeviceTool extends ToolKind {
  readonly name = 'remote_device';
  readonly displayName = 'Remote device';
  readonly description = 'Runs shell commands on a device that was paired.';
  readonly configFields: Readonly<Record<string, ConfigField>> = {
    device_id: {
      type: 'string',
      label: 'Device',
      description: 'The id of a paired device.',
      required: true,
      secret: false,
      order: 1,
    },
  };
  readonly actions: readonly ActionDefinition[] = [runCommand('Executes a shell command on a remote device.')];

  constructor(
    private readonly devices: StoredDevices,
    private readonly outputs: DeviceOutputs,
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly timing: Timing,
  ) {
    super();
  }

  override async configure(
    config: Readonly<Record<string, unknown>>,
    secrets: Readonly<Record<string, string>>,
    ownerId: string,
  ): Promise<Configured> {
    const deviceId = deviceIdOf(config);
    const device = deviceId === undefined ? undefined : await this.devices.byId(deviceId);
    if (device?.status !== 'active' || device.ownerId !== ownerId) {
      throw new Rejection('tool-invalid', 'device_id: There is no such device');
    }
    const { name, description } = device;
    const text = `Executes a shell command on the remote device '${name}'. ${description}`.trim();
    return { config: { device_id: device.id }, secrets, actions: [runCommand(text)] };
  }

  override deviceOf({ config }: ToolDefinition): string | undefined {
    return deviceIdOf(config);
  }

  override async approvalOf(
    _: ActionDefinition,
    args: CallArguments,
    tool: Pick<UsedTool, 'ownerId' | 'definition'>,
  ): Promise<ApprovalNeed> {
    const device = await this.deviceFor(tool);
    const command = args['command'];
    // A call that cannot run is refused when it is to run, so it needs no approval.
    if (!device || typeof command !== 'string') return 'none';
    const { mode, reason } = decideApproval(device, command.trim());
    if (mode === 'full') return 'none';
    return reason === 'denylist_forced_prompt' ? 'always' : 'needed';
  }

  async run({ name }: ActionDefinition, args: CallArguments, tool: UsedTool, context: CallContext): Promise<object> {
    if (name !== RUN_COMMAND) throw unknownAction(name);
    const device = await this.patiently(context, () => this.deviceFor(tool));
    if (!device) throw new ToolFailed('The device is not paired any more.');
    const request = requestOf(device, commandIn(args), context, this.clock.now());
    const overAtMs = this.timing.elapsedMs() + request.timeoutMs + TRAVEL_MS;
    const requesting = new RequestInvocation(request, context.cause);
    const known = await this.patiently(context, () => this.commands.execute(requesting));
    const ended = await this.ended(request.invocationId, known, context, overAtMs);
    return this.resultOf(ended, device);
  }

  /** Waits while the event store is away, because the device may run the command meanwhile. */
  private patiently<T>({ signal }: CallContext, work: () => Promise<T>): Promise<T> {
    return this.streams.retryWhileUnavailable(ANSWER_PATIENCE_MS, work, signal);
  }

  private async deviceFor({ ownerId, definition }: Pick<UsedTool, 'ownerId' | 'definition'>): Promise<Device | undefined> {
    const deviceId = deviceIdOf(definition.config);
    const device = deviceId === undefined ? undefined : await this.devices.byId(deviceId);
    return device?.status === 'active' && device.ownerId === ownerId ? device : undefined;
  }

  /**
   * Waits until the invocation has ended, and ends it if the device does not. `overAtMs` is elapsed time, which a change of the
   * clock does not affect.
   */
  private async ended(
    id: InvocationId,
    requested: Folded<Invocation>,
    context: CallContext,
    overAtMs: number,
  ): Promise<Invocation> {
    let known = requested;
    const { stopped, signal, cause } = context;
    let changed = new AbortController();
    const unsubscribe = this.signals.subscribe(INVOCATION_CHANGED, (payload) => payload === id && changed.abort());
    try {
      while (known.state.status !== 'ended') {
        const { state } = known;
        const isStopped = stopped?.aborted || signal.aborted;
        const reason = await this.patiently(context, () => this.reasonToGiveUp(state, isStopped, overAtMs));
        if (reason) known = await this.patiently(context, () => this.giveUp(id, reason, cause));
        // An aborted call does not cancel a command that a device has; the end of the command is still recorded.
        if (signal.aborted && known.state.status !== 'ended') throw new OutcomeUnknown('The device may still run the command.');
        if (known.state.status === 'ended') break;
        const isWaiting = known.state.status === 'requested';
        await withSignals([changed.signal, signal, isWaiting ? stopped : undefined], (over) =>
          this.timing.pause(CHECKED_EVERY_MS, over),
        );
        if (changed.signal.aborted) changed = new AbortController();
        const before = known;
        known = await this.patiently(context, () => this.streams.fold(invocationStream(id), invocation, before));
      }
      return known.state;
    } finally {
      unsubscribe();
    }
  }

  private async reasonToGiveUp(
    { requested, status }: Invocation,
    isStopped: boolean,
    overAtMs: number,
  ): Promise<GaveUp | undefined> {
    if (this.timing.elapsedMs() >= overAtMs) return 'deadline';
    if (isStopped && status === 'requested') return 'stopped';
    const { status: device } = await this.devices.byId(requested!.deviceId);
    return device === 'active' ? undefined : 'device_revoked';
  }

  private giveUp(id: InvocationId, reason: GaveUp, cause: Cause): Promise<Folded<Invocation>> {
    return this.commands.execute(new GiveUpInvocation(id, reason, cause));
  }

  private async resultOf(ended: Invocation, { name }: Device): Promise<object> {
    const text = await this.outputs.textOf(ended);
    const { end } = ended;
    if (end?.kind === 'unknown') {
      throw new OutcomeUnknown(end.reason === 'deadline' ? TIMED_OUT : 'The device was revoked while it ran the command.');
    }
    const none = { exit_code: null, stdout: '', stderr: '', duration_ms: null, device_name: name };
    if (end?.kind === 'denied')
      return { ...none, error: end.reason ? `denied by the device: ${end.reason}` : 'denied by the device' };
    if (end?.kind !== 'finished') return { ...none, error: NOT_RUN[end!.reason] };
    await this.outputs.purge(ended);
    return {
      exit_code: end.exitCode,
      stdout: text?.stdout ?? '',
      stderr: text?.stderr ?? '',
      duration_ms: end.durationMs,
      device_name: name,
      error: end.error ?? (text ? null : 'the output of the command was lost'),
    };
  }
}

const NOT_RUN: Readonly<Record<GaveUp, string>> = {
  deadline: TIMED_OUT,
  stopped: 'the answer was stopped before the device got the command',
  device_revoked: 'the device was revoked before it got the command',
};

const deviceIdOf = ({ device_id: id }: Readonly<Record<string, unknown>>): string | undefined =>
  isDeviceId(id) ? id : undefined;

type Wanted = Readonly<{ command: string; workingDirectory: string; timeoutMs: number }>;

/** @throws ToolFailed */
function commandIn(args: CallArguments): Wanted {
  const command = textArgument(args, 'command').trim();
  if (command === '') throw new ToolFailed('The argument `command` must not be empty.');
  if (command.length > COMMAND_CHARACTERS_MAX)
    throw new ToolFailed(`A command has at most ${COMMAND_CHARACTERS_MAX} characters.`);
  if (command.includes('\0')) throw new ToolFailed('A command must not contain NUL characters.');
  const workingDirectory = isLeftOut(args['working_directory']) ? '' : textArgument(args, 'working_directory');
  if (workingDirectory.length > PATH_CHARACTERS_MAX) throw new ToolFailed('The argument `working_directory` is too long.');
  const timeout = isLeftOut(args['timeout_ms']) ? 0 : numberArgument(args, 'timeout_ms');
  return { command, workingDirectory, timeoutMs: timeout > 0 ? Math.min(timeout, TIMEOUT_MS_MAX) : TIMEOUT_MS_DEFAULT };
}

/** @throws ToolFailed if the device now requires an approval that the call does not have */
function requestOf(
  device: Device,
  { command, workingDirectory, timeoutMs }: Wanted,
  context: CallContext,
  now: Date,
): InvocationRequested['data'] {
  const decision = decideApproval(device, command);
  const approvedBy = approverOf(decision, context.approval);
  if (!approvedBy) throw new ToolFailed('The command needs an approval that it does not have, so it was not run.');
  const { userId, agentId, conversationId, turnId, callId } = context;
  return {
    invocationId: invocationIdOf(turnId, callId, decision.commandSha256),
    deviceId: device.id,
    ownerId: device.ownerId,
    ...{ userId, agentId, conversationId, turnId, callId },
    action: RUN_COMMAND,
    command,
    commandSha256: decision.commandSha256,
    workingDirectory,
    timeoutMs,
    approvalMode: decision.mode,
    decisionReason: decision.reason,
    approvedBy,
    issuedAt: now.toISOString(),
    deadline: new Date(now.getTime() + timeoutMs + TRAVEL_MS).toISOString(),
  };
}

/** One call of one command has one id. */
const invocationIdOf = (...parts: readonly [turnId: string, callId: string, commandSha256: string]): InvocationId =>
  `inv_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
