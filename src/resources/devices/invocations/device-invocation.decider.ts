import { CLOCKS_APART_MS_MAX } from '../../../kernel/clocks-apart.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { deviceInvocationCodec } from './device-invocation.codec.js';
import type {
  AckDecision,
  GaveUp,
  InvocationEvent,
  InvocationFinished,
  InvocationOutputReceived,
  InvocationRequested,
} from './device-invocation.events.js';

type InvocationEnd =
  | Readonly<{ kind: 'finished' } & Omit<InvocationFinished['data'], 'invocationId'>>
  | Readonly<{ kind: 'denied'; reason: string | null }>
  | Readonly<{ kind: 'expired' | 'unknown'; reason: GaveUp }>;

/** A command, from its request to its end. */
export type Invocation = Readonly<{
  status: 'none' | 'requested' | 'handed-out' | 'running' | 'ended';
  requested: InvocationRequested['data'] | null;
  outputKeys: readonly string[];
  keptBytes: number;
  stdoutBytes: number;
  stderrBytes: number;
  end: InvocationEnd | null;
}>;

const initial: Invocation = {
  status: 'none',
  requested: null,
  outputKeys: [],
  keptBytes: 0,
  stdoutBytes: 0,
  stderrBytes: 0,
  end: null,
};

export const invocation: Aggregate<Invocation, InvocationEvent> = { initial, evolve, codec: deviceInvocationCodec };

function evolve(state: Invocation, event: InvocationEvent): Invocation {
  switch (event.type) {
    case 'InvocationRequested':
      return { ...state, status: 'requested', requested: event.data };
    case 'InvocationHandedOut':
      return { ...state, status: 'handed-out' };
    case 'InvocationAcknowledged': {
      const { decision, reason } = event.data;
      if (decision === 'denied') return { ...state, status: 'ended', end: { kind: 'denied', reason } };
      return { ...state, status: 'running' };
    }
    case 'InvocationOutputReceived': {
      const { outputKey, keptBytes, stdoutBytes, stderrBytes } = event.data;
      return {
        ...state,
        outputKeys: [...state.outputKeys, outputKey],
        keptBytes: state.keptBytes + keptBytes,
        stdoutBytes: state.stdoutBytes + stdoutBytes,
        stderrBytes: state.stderrBytes + stderrBytes,
      };
    }
    case 'InvocationFinished': {
      const { invocationId: _, ...end } = event.data;
      return { ...state, status: 'ended', end: { kind: 'finished', ...end } };
    }
    case 'InvocationExpired':
      return { ...state, status: 'ended', end: { kind: 'expired', reason: event.data.reason } };
    case 'InvocationOutcomeUnknown':
      return { ...state, status: 'ended', end: { kind: 'unknown', reason: event.data.reason } };
  }
}

type Decide = Decision<Invocation, InvocationEvent>;

/** Parts of the output of one command. A device collects several lines in each part. */
export const OUTPUT_PARTS_MAX = 2_000;

export const invocationNotFound = () => new Rejection('device-invocation-not-found', 'Invocation not found');

/** The request of a command that was handed out to this device. @throws Rejection device-invocation-not-found */
function requestedOf({ requested, status }: Invocation, deviceId: string): InvocationRequested['data'] {
  // A device does not know a command that was not handed out.
  if (!requested || requested.deviceId !== deviceId || status === 'requested') throw invocationNotFound();
  return requested;
}

/**
 * Whether the deadline of a command has passed by any clock. The process that waits ends a command in time, and else a ticker
 * does. The deadline itself only keeps devices from commands that no process was there to end.
 */
const isPast = ({ requested }: Invocation, now: Date): boolean =>
  now.getTime() >= Date.parse(requested!.deadline) + CLOCKS_APART_MS_MAX;

/** A repeated call keeps the existing invocation. */
export const requestInvocation =
  (request: InvocationRequested['data']): Decide =>
  (state) =>
    state.status === 'none' ? [{ type: 'InvocationRequested', data: request }] : [];

/** Hands a command out once, unless its deadline has passed by any clock. Otherwise it does nothing. */
export const handOut =
  (deviceId: string, sessionId: string, now: Date): Decide =>
  (state) => {
    if (state.status !== 'requested' || state.requested!.deviceId !== deviceId || isPast(state, now)) return [];
    const { invocationId } = state.requested!;
    return [{ type: 'InvocationHandedOut', data: { invocationId, sessionId, handedOutAt: now.toISOString() } }];
  };

/** Only the first acknowledgement before the command ends counts. The device runs nothing without it. */
export const acknowledge =
  (deviceId: string, decision: AckDecision, reason: string | null, now: Date): Decide =>
  (state) => {
    const { invocationId } = requestedOf(state, deviceId);
    if (state.status === 'running' || state.end?.kind === 'denied') {
      throw new Rejection('device-invocation-acknowledged', 'This invocation was acknowledged before');
    }
    if (state.status === 'ended' || isPast(state, now)) throw over();
    const acknowledgedAt = now.toISOString();
    return [{ type: 'InvocationAcknowledged', data: { invocationId, decision, reason, acknowledgedAt } }];
  };

type Output = Omit<InvocationOutputReceived['data'], 'invocationId'>;
type Finish = Omit<InvocationFinished['data'], 'invocationId' | 'finishedAt'>;

/** Records one request of a device: a part of the output, the end of the command, or both. */
export const receiveOutput =
  (deviceId: string, output: Output | undefined, finish: Finish | undefined, now: Date): Decide =>
  (state) => {
    const { invocationId } = requestedOf(state, deviceId);
    if (state.status === 'ended') throw over();
    if (output && state.outputKeys.length >= OUTPUT_PARTS_MAX) {
      throw new Rejection('device-output-too-large', `The output of a command comes in at most ${OUTPUT_PARTS_MAX} parts`);
    }
    const finishedAt = now.toISOString();
    return [
      ...(output ? [{ type: 'InvocationOutputReceived', data: { invocationId, ...output } } as const] : []),
      ...(finish ? [{ type: 'InvocationFinished', data: { invocationId, ...finish, finishedAt } } as const] : []),
    ];
  };

/**
 * Ends an invocation when its time is over by the elapsed time of a process, when its turn is stopped, or when its device is
 * revoked. Stopping does not end a command that a device has, because the device may already run it.
 */
export const giveUp =
  (reason: GaveUp, now: Date): Decide =>
  (state) => {
    if (state.status === 'none' || state.status === 'ended') return [];
    const { invocationId } = state.requested!;
    const at = now.toISOString();
    if (state.status === 'requested') return [{ type: 'InvocationExpired', data: { invocationId, reason, expiredAt: at } }];
    if (reason === 'stopped') return [];
    return [{ type: 'InvocationOutcomeUnknown', data: { invocationId, reason, endedAt: at } }];
  };

const over = () => new Rejection('device-invocation-ended', 'This invocation has ended');
