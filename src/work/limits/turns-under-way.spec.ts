import { expect, it } from '@jest/globals';
import { TURNS_UNDER_WAY_MAX, TurnsUnderWay } from './turns-under-way.js';
import type { Admission } from './usage-limits.port.js';

const turn = (turnId: string, more: Partial<Admission> & { agentId?: string } = {}): Admission => ({
  turnId,
  stream: `conversation-of-${turnId}`,
  ownerId: more.ownerId ?? 'ann',
  agent: { id: more.agentId ?? 'helper', tokenLimit: 1, requestLimit: 1 },
  isNewRequest: more.isNewRequest ?? true,
});

function entered(...turns: readonly Admission[]): TurnsUnderWay {
  const underWay = new TurnsUnderWay();
  for (const each of turns) underWay.enter(each);
  return underWay;
}
const told = (underWay: TurnsUnderWay, ownerId = 'ann') => underWay.admittedFor(ownerId).map(({ turnId }) => turnId);

it('a withdrawn turn leaves no trace', () => {
  const a = turn('a');
  const underWay = entered(a, turn('b'));
  underWay.leave(a);
  underWay.endSeen('a');
  expect([underWay.size, told(underWay)]).toEqual([1, []]);
});

it('turns whose end was reported are listed for their owner until they are settled', () => {
  const underWay = entered(turn('a'), turn('b'), turn('c'), turn('of-bob', { ownerId: 'bob' }));
  for (const id of ['of-bob', 'b', 'a', 'nobody']) underWay.endSeen(id);
  expect([told(underWay), told(underWay, 'bob')]).toEqual([['b', 'a'], ['of-bob']]);
  underWay.forget(underWay.admittedFor('ann'));
  expect([told(underWay), told(underWay, 'bob'), underWay.size]).toEqual([[], ['of-bob'], 2]);
});

it('a turn that resumes before its pause is settled is still listed and stays under way afterwards', () => {
  const underWay = entered(turn('a'));
  underWay.endSeen('a');
  underWay.enter(turn('a', { isNewRequest: false }));
  const paused = underWay.admittedFor('ann');
  expect(paused).toHaveLength(1);
  underWay.forget(paused);
  expect([underWay.size, told(underWay)]).toEqual([1, []]);
});

it('remembers at most TURNS_UNDER_WAY_MAX turns and drops the oldest', () => {
  const underWay = entered(...Array.from({ length: TURNS_UNDER_WAY_MAX + 1 }, (_, index) => turn(`t${index}`)));
  expect(underWay.size).toBe(TURNS_UNDER_WAY_MAX);
  for (const id of ['t0', 't1']) underWay.endSeen(id);
  expect(told(underWay)).toEqual(['t1']);
});
