import { describe, expect, it } from '@jest/globals';
import type { CalledTool } from '../../conversation/conversation.events.js';
import { withoutRepetition } from '../research/repeated-calls.js';
import { RepeatedCalls } from './repeated-calls.policy.js';

const CALLS = 100;

const call = (callId: string, args: unknown): CalledTool =>
  ({ callId, toolId: 'tool-1', actionName: 'send', arguments: args }) as unknown as CalledTool;
const places = (calls: readonly CalledTool[], earlier: readonly CalledTool[]) => {
  const repeated = new RepeatedCalls();
  return calls.map((each) =>
    repeated.next(
      each,
      earlier.map((before) => ({ call: before })),
    ),
  );
};

/** Different calls, and how often their arguments were read. */
function counted() {
  const read = { times: 0 };
  const argumentsOf = (value: number) => ({
    get value() {
      read.times++;
      return value;
    },
  });
  return { read, calls: Array.from({ length: CALLS }, (_, at) => call(`c${at}`, argumentsOf(at))) };
}

describe('a call of an attempt', () => {
  it('repeats the earlier calls with the same arguments one after another, in any order of fields', () => {
    const [one, other] = [call('a', { x: 1, y: 2 }), call('b', { x: 2 })];
    const again = call('c', { y: 2, x: 1 });
    expect(places([again, again, other, again], [one, other, one])).toEqual([0, 2, 1, undefined]);
    expect(places([{ ...one, step: 1 }], [one])).toEqual([undefined]);
  });

  it('reads the arguments of each call once, also of calls that the attempt itself has begun', () => {
    const { read, calls } = counted();
    const repeated = new RepeatedCalls();
    const begun: { call: CalledTool }[] = [];
    for (const each of calls) {
      expect(repeated.next(each, begun)).toBeUndefined();
      begun.push({ call: each });
    }
    expect(read.times).toBeLessThanOrEqual(2 * CALLS);
  });
});

it('a repeated step of a research reads the arguments of each earlier call once', async () => {
  const { read, calls } = counted();
  const started = new Map(calls.map((each) => [each.callId, each]));
  const begun: CalledTool[] = [];
  const ledger = { begin: (each: CalledTool) => Promise.resolve(void begun.push(each)), finish: () => Promise.resolve() };
  const repeating = withoutRepetition(ledger, { started, finished: new Map() }, new Set());
  for (const each of calls.toReversed()) await repeating.begin(each);
  expect(begun).toEqual([]);
  expect(read.times).toBeLessThanOrEqual(2 * CALLS);
});
