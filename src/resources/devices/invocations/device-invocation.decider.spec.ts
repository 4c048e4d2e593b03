import { describe, expect, it } from '@jest/globals';
import { CLOCKS_APART_MS_MAX } from '../../../kernel/clocks-apart.js';
import {
  acknowledge,
  giveUp,
  handOut,
  type Invocation,
  invocation,
  OUTPUT_PARTS_MAX,
  receiveOutput,
  requestInvocation,
} from './device-invocation.decider.js';
import type { InvocationEvent, InvocationRequested } from './device-invocation.events.js';

const IN_TIME = new Date('2026-01-01T00:00:34.999Z');
const DEADLINE = new Date('2026-01-01T00:00:35.000Z');
const later = (ms: number) => new Date(DEADLINE.getTime() + ms);
/** Too late by any clock. */
const LATE = later(CLOCKS_APART_MS_MAX);
const request: InvocationRequested['data'] = {
  invocationId: 'inv_1',
  deviceId: 'dev_1',
  ownerId: 'alice',
  userId: 'alice',
  agentId: null,
  conversationId: 'c',
  turnId: 't',
  callId: 'c1',
  action: 'run_command',
  command: 'ls',
  commandSha256: 'aa',
  workingDirectory: '',
  timeoutMs: 30_000,
  approvalMode: 'full',
  decisionReason: 'full_access_passthrough',
  approvedBy: 'device',
  issuedAt: '2026-01-01T00:00:00.000Z',
  deadline: DEADLINE.toISOString(),
};
const output = { outputKey: 'k1', keptBytes: 10, stdoutBytes: 4, stderrBytes: 0 };
const finish = { exitCode: 0, durationMs: 1, error: null, stdoutSha256: null, stderrSha256: null };

type Decide = (state: Invocation) => readonly InvocationEvent[];
const after = (...decisions: Decide[]): Invocation =>
  decisions.reduce((state, decide) => decide(state).reduce(invocation.evolve, state), invocation.initial);
const typesOf = (state: Invocation, decide: Decide): readonly string[] | string => {
  try {
    return decide(state).map(({ type }) => type);
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const REQUESTED = requestInvocation(request);
const HANDED_OUT = handOut('dev_1', 's1', IN_TIME);
const ACCEPTED = acknowledge('dev_1', 'accepted', null, IN_TIME);
const DENIED = acknowledge('dev_1', 'denied', 'No', IN_TIME);
const FINISHED = receiveOutput('dev_1', undefined, finish, IN_TIME);

describe('an invocation', () => {
  it('is requested once', () => expect(typesOf(after(REQUESTED), REQUESTED)).toEqual([]));

  it('is handed out once, to its device, unless its deadline has passed by any clock', () => {
    const requested = after(REQUESTED);
    expect(typesOf(requested, HANDED_OUT)).toEqual(['InvocationHandedOut']);
    expect(typesOf(requested, handOut('dev_1', 's1', later(600_000)))).toEqual(['InvocationHandedOut']);
    expect(typesOf(requested, handOut('dev_1', 's1', LATE))).toEqual([]);
    expect(typesOf(requested, handOut('dev_2', 's1', IN_TIME))).toEqual([]);
    for (const more of [[], [ACCEPTED], [DENIED], [FINISHED], [giveUp('deadline', IN_TIME)]]) {
      expect(typesOf(after(REQUESTED, HANDED_OUT, ...more), handOut('dev_1', 's2', IN_TIME))).toEqual([]);
    }
    expect(typesOf(after(REQUESTED, giveUp('stopped', IN_TIME)), HANDED_OUT)).toEqual([]);
    expect(typesOf(invocation.initial, HANDED_OUT)).toEqual([]);
  });

  it('is acknowledged once, by the device that has it, unless its deadline has passed by any clock', () => {
    const handedOut = after(REQUESTED, HANDED_OUT);
    expect(typesOf(handedOut, ACCEPTED)).toEqual(['InvocationAcknowledged']);
    expect(typesOf(handedOut, acknowledge('dev_1', 'accepted', null, later(600_000)))).toEqual(['InvocationAcknowledged']);
    expect(typesOf(handedOut, acknowledge('dev_1', 'accepted', null, LATE))).toBe('device-invocation-ended');
    expect(typesOf(after(REQUESTED, HANDED_OUT, giveUp('deadline', IN_TIME)), ACCEPTED)).toBe('device-invocation-ended');
    expect(typesOf(handedOut, acknowledge('dev_2', 'accepted', null, IN_TIME))).toBe('device-invocation-not-found');
    expect(typesOf(after(REQUESTED), ACCEPTED)).toBe('device-invocation-not-found');
    expect(typesOf(after(REQUESTED, HANDED_OUT, ACCEPTED), DENIED)).toBe('device-invocation-acknowledged');
    expect(typesOf(after(REQUESTED, HANDED_OUT, DENIED), ACCEPTED)).toBe('device-invocation-acknowledged');
    expect(typesOf(after(REQUESTED, HANDED_OUT, giveUp('device_revoked', IN_TIME)), ACCEPTED)).toBe('device-invocation-ended');
  });

  it('that was denied has ended', () => {
    expect(after(REQUESTED, HANDED_OUT, DENIED)).toMatchObject({ status: 'ended', end: { kind: 'denied', reason: 'No' } });
    expect(typesOf(after(REQUESTED, HANDED_OUT, DENIED), FINISHED)).toBe('device-invocation-ended');
  });

  it('collects output until it is finished, in a limited number of parts', () => {
    const both = receiveOutput('dev_1', output, finish, IN_TIME);
    expect(typesOf(after(REQUESTED, HANDED_OUT), both)).toEqual(['InvocationOutputReceived', 'InvocationFinished']);
    expect(after(REQUESTED, HANDED_OUT, both)).toMatchObject({
      outputKeys: ['k1'],
      keptBytes: 10,
      stdoutBytes: 4,
      end: { kind: 'finished', exitCode: 0 },
    });
    expect(typesOf(after(REQUESTED, HANDED_OUT, both), FINISHED)).toBe('device-invocation-ended');
    expect(typesOf(after(REQUESTED, HANDED_OUT), receiveOutput('dev_2', output, finish, IN_TIME))).toBe(
      'device-invocation-not-found',
    );
    const many = { ...after(REQUESTED, HANDED_OUT), outputKeys: Array.from({ length: OUTPUT_PARTS_MAX }, () => 'k') };
    expect(typesOf(many, both)).toBe('device-output-too-large');
  });

  it('that is given up expires if no device has it, and otherwise has an unknown outcome', () => {
    const late = giveUp('deadline', IN_TIME);
    expect(typesOf(after(REQUESTED), late)).toEqual(['InvocationExpired']);
    expect(typesOf(after(REQUESTED), giveUp('stopped', IN_TIME))).toEqual(['InvocationExpired']);
    expect(typesOf(after(REQUESTED, HANDED_OUT), giveUp('stopped', IN_TIME))).toEqual([]);
    expect(typesOf(after(REQUESTED, HANDED_OUT), late)).toEqual(['InvocationOutcomeUnknown']);
    expect(typesOf(after(REQUESTED, HANDED_OUT, ACCEPTED), giveUp('device_revoked', IN_TIME))).toEqual([
      'InvocationOutcomeUnknown',
    ]);
    for (const end of [FINISHED, DENIED, late]) expect(typesOf(after(REQUESTED, HANDED_OUT, end), late)).toEqual([]);
  });
});
