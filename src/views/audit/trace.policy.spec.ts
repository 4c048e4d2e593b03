import { describe, expect, it } from '@jest/globals';
import { isCutOff, isOwnTrace, TRACE_DEPTH_MAX, type TracedEvent, type TraceNode, traceOf } from './trace.policy.js';

let next = 0n;
const event = (id: string, causationId: string | null, more: Partial<TracedEvent> = {}): TracedEvent => ({
  position: next++,
  id,
  stream: 's-1',
  revision: 0,
  type: 'Happened',
  at: new Date(0),
  actor: 'user:ann',
  causationId,
  data: '{}',
  ...more,
});

type Shape = [string, Shape[]];
const shapeOf = ({ event: { id }, caused }: TraceNode): Shape => [id, caused.map(shapeOf)];
const shapes = (events: readonly TracedEvent[]) => traceOf(events).map(shapeOf);

describe('a trace', () => {
  it('has each event below its cause, and the effects of the request at the top', () => {
    const events = [event('asked', 'request'), event('started', 'asked'), event('answered', 'started'), event('titled', 'asked'), event('other', 'request')]; // oxfmt-ignore
    expect(shapes(events)).toEqual([
      ['asked', [['started', [['answered', []]]], ['titled', []]]], // oxfmt-ignore
      ['other', []],
    ]);
  });

  it('has an event whose cause is missing or not earlier at the top', () => {
    expect(shapes([event('a', null), event('b', 'gone'), event('c', 'c'), event('d', 'e'), event('e', 'd')])).toEqual([
      ['a', []],
      ['b', []],
      ['c', []],
      ['d', [['e', []]]],
    ]);
  });

  it('is truncated if the cause of an event is purged', () => {
    const whole = [event('asked', 'request'), event('started', 'asked'), event('alone', null)];
    expect(isCutOff(whole, 'request')).toBe(false);
    expect(isCutOff(whole.slice(1), 'request')).toBe(true);
    expect(isCutOff([], 'request')).toBe(false);
  });

  it('ends with the frames of the answer', () => {
    const data = JSON.stringify({ turnId: 't1', frames: 7, lastId: 6, sha256: 'ff' });
    const [asked] = traceOf([event('asked', 'request'), event('sealed', 'asked', { type: 'TurnSealed', data })]);
    expect(asked!.caused[0]!.journal).toEqual({ stream: 'message-t1', frames: 7, lastId: 6, sha256: 'ff' });
  });

  it('ends with the frames of an answer that was added to a conversation', () => {
    const data = JSON.stringify({ turnId: 't1', frames: 7, lastId: 6, sha256: 'ff' });
    const [, added] = traceOf([event('asked', 'request'), event('added', 'other', { type: 'TurnAppended', data })]);
    expect(added!.journal).toEqual({ stream: 'message-t1', frames: 7, lastId: 6, sha256: 'ff' });
  });

  it.each([
    '',
    'null',
    '"text"',
    '{}',
    '{"turnId":5,"frames":7,"lastId":6,"sha256":"ff"}',
    '{"turnId":"t1","frames":7,"lastId":6}',
  ])('shows a seal that somebody has changed to %j without frames', (data) => {
    const [sealed] = traceOf([event('sealed', 'request', { type: 'TurnSealed', data })]);
    expect([sealed!.event.id, sealed!.journal]).toEqual(['sealed', undefined]);
  });

  it('shows events that are too deep as siblings of their causes', () => {
    const links = 10_000;
    const trace = traceOf(Array.from({ length: links }, (_, n) => event(`e${n}`, n === 0 ? 'request' : `e${n - 1}`)));
    let depth = 0;
    let level = trace;
    for (; level[0]!.caused.length > 0; level = level[0]!.caused) depth++;
    expect(depth).toBe(TRACE_DEPTH_MAX);
    expect(level).toHaveLength(links - TRACE_DEPTH_MAX);
    expect(() =>
      JSON.stringify(trace, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toThrow();
  });

  it('is a user’s own if no other user took part', () => {
    const [ann, bob, system, nobody] = [
      { actor: 'user:ann' },
      { actor: 'user:bob' },
      { actor: 'system:run-turn' },
      { actor: null },
    ];
    expect(isOwnTrace([ann, system], ['user:ann', 'agent-key:k'])).toBe(true);
    expect(isOwnTrace([ann, bob], ['user:ann', 'agent-key:k'])).toBe(false);
    expect(isOwnTrace([ann, nobody], ['user:ann', 'agent-key:k'])).toBe(false);
    expect(isOwnTrace([system], ['user:ann', 'agent-key:k'])).toBe(false);
  });
});
