import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, type Outcome, Streams } from '../../../kernel/event-sourcing/streams.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { device } from '../device/device.decider.js';
import { type DeviceId, deviceStream } from '../device/device.events.js';
import {
  acknowledge,
  giveUp,
  handOut,
  type Invocation,
  invocation,
  receiveOutput,
  requestInvocation,
} from './device-invocation.decider.js';
import {
  type AckDecision,
  type GaveUp,
  type InvocationEvent,
  type InvocationFinished,
  type InvocationId,
  type InvocationOutputReceived,
  type InvocationRequested,
  invocationStream,
} from './device-invocation.events.js';

/** The subject of signals that a command waits for a device; the payload is `<device> <invocation>`. */
export const INVOCATION_REQUESTED = 'device.invocation.requested';
/** The subject of signals that an invocation has changed; the payload is its id. */
export const INVOCATION_CHANGED = 'device.invocation.changed';

/** A tool call requests that a device runs a command. */
export class RequestInvocation extends Command<Folded<Invocation>> {
  constructor(
    readonly request: InvocationRequested['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RequestInvocation)
export class RequestInvocationHandler implements Handler<RequestInvocation> {
  constructor(
    private readonly streams: Streams,
    private readonly signals: Signals,
  ) {}

  async execute({ request, cause }: RequestInvocation): Promise<Folded<Invocation>> {
    const { invocationId, deviceId } = request;
    const requested = await this.streams.transact(invocationStream(invocationId), invocation, requestInvocation(request), cause);
    this.signals.publish(INVOCATION_REQUESTED, `${deviceId} ${invocationId}`);
    return requested;
  }
}

/** Hands a command out to a session of its device. Undefined if another session has it or its deadline has passed. */
export class HandOutInvocation extends Command<InvocationRequested['data'] | undefined> {
  constructor(
    readonly invocationId: InvocationId,
    readonly deviceId: DeviceId,
    readonly sessionId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(HandOutInvocation)
export class HandOutInvocationHandler implements Handler<HandOutInvocation> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly signals: Signals,
  ) {}

  async execute({ invocationId, deviceId, sessionId, cause }: HandOutInvocation) {
    const { state } = await this.streams.fold(deviceStream(deviceId), device);
    if (state.status !== 'active') return undefined;
    const stream = invocationStream(invocationId);
    // Each attempt reads the clock, because a lost race may have taken long.
    const decide = (known: Invocation) => handOut(deviceId, sessionId, this.clock.now())(known);
    const { events, state: taken } = await this.streams.transact(stream, invocation, decide, cause);
    if (events.length === 0) return undefined;
    this.signals.publish(INVOCATION_CHANGED, invocationId);
    return taken.requested ?? undefined;
  }
}

/** A device accepts or denies a command. */
export class AcknowledgeInvocation extends Command {
  constructor(
    readonly invocationId: InvocationId,
    readonly deviceId: DeviceId,
    readonly decision: AckDecision,
    readonly reason: string | null,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AcknowledgeInvocation)
class AcknowledgeInvocationHandler implements Handler<AcknowledgeInvocation> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly signals: Signals,
  ) {}

  async execute({ invocationId, deviceId, decision, reason, cause }: AcknowledgeInvocation): Promise<void> {
    const decide = (known: Invocation) => acknowledge(deviceId, decision, reason, this.clock.now())(known);
    await this.streams.transact(invocationStream(invocationId), invocation, decide, cause);
    this.signals.publish(INVOCATION_CHANGED, invocationId);
  }
}

export type ReceivedOutput = Readonly<{
  output: Omit<InvocationOutputReceived['data'], 'invocationId'> | undefined;
  finish: Omit<InvocationFinished['data'], 'invocationId' | 'finishedAt'> | undefined;
}>;

/** A device sends output of a command, or reports its end. */
export class ReceiveOutput extends Command {
  constructor(
    readonly invocationId: InvocationId,
    readonly deviceId: DeviceId,
    readonly received: ReceivedOutput,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ReceiveOutput)
export class ReceiveOutputHandler implements Handler<ReceiveOutput> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly signals: Signals,
  ) {}

  async execute({ invocationId, deviceId, received: { output, finish }, cause }: ReceiveOutput): Promise<void> {
    const decision = receiveOutput(deviceId, output, finish, this.clock.now());
    await this.streams.transact(invocationStream(invocationId), invocation, decision, cause);
    this.signals.publish(INVOCATION_CHANGED, invocationId);
  }
}

/** Ends an invocation that the caller no longer waits for. */
export class GiveUpInvocation extends Command<Outcome<Invocation, InvocationEvent>> {
  constructor(
    readonly invocationId: InvocationId,
    readonly reason: GaveUp,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(GiveUpInvocation)
export class GiveUpInvocationHandler implements Handler<GiveUpInvocation> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly signals: Signals,
  ) {}

  async execute({ invocationId, reason, cause }: GiveUpInvocation) {
    const decide = (known: Invocation) => giveUp(reason, this.clock.now())(known);
    const ended = await this.streams.record(invocationStream(invocationId), invocation, decide, cause);
    this.signals.publish(INVOCATION_CHANGED, invocationId);
    return ended;
  }
}

export const deviceInvocationHandlers = [
  AcknowledgeInvocationHandler,
  GiveUpInvocationHandler,
  HandOutInvocationHandler,
  ReceiveOutputHandler,
  RequestInvocationHandler,
];
