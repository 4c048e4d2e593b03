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

it('before a request are those of its agent that came earlier, and none that comes later', () => {
  const underWay = entered(turn('a'), turn('other', { agentId: 'other' }), turn('b'), turn('c'), turn('d'));
  expect(underWay.before(turn('a'))).toEqual([]);
  expect(underWay.before(turn('c'))).toEqual(['a', 'b']);
});

it('what the read model knows, and what goes on after a pause, is no request to be counted', () => {
  const underWay = entered(turn('a'), turn('resumed', { isNewRequest: false }), turn('b'), turn('c'));
  underWay.known(['a', 'unheard of']);
  expect(underWay.before(turn('c'))).toEqual(['b']);
});

it('what is withdrawn was never there', () => {
  const underWay = entered(turn('a'), turn('b'));
  underWay.leave('a');
  underWay.told('a');
  expect([underWay.before(turn('b')), told(underWay)]).toEqual([[], []]);
});

it('turns whose end was told are those of their owner, until they are settled', () => {
  const underWay = entered(turn('a'), turn('b'), turn('c'), turn('of-bob', { ownerId: 'bob' }));
  for (const id of ['of-bob', 'b', 'a', 'nobody']) underWay.told(id);
  expect([told(underWay), told(underWay, 'bob')]).toEqual([['b', 'a'], ['of-bob']]);
  underWay.settled(underWay.admittedFor('ann'));
  expect([told(underWay), told(underWay, 'bob'), underWay.size]).toEqual([[], ['of-bob'], 2]);
});

it('a turn that goes on before its pause is settled was told of all the same, and stays under way', () => {
  const underWay = entered(turn('a'));
  underWay.told('a');
  underWay.enter(turn('a', { isNewRequest: false }));
  const paused = underWay.admittedFor('ann');
  expect(paused).toHaveLength(1);
  underWay.settled(paused);
  expect([underWay.size, told(underWay)]).toEqual([1, []]);
});

it('remembers so many turns and forgets the oldest', () => {
  const underWay = entered(...Array.from({ length: TURNS_UNDER_WAY_MAX + 1 }, (_, index) => turn(`t${index}`)));
  expect(underWay.size).toBe(TURNS_UNDER_WAY_MAX);
  expect(underWay.before(turn('t2'))).toEqual(['t1']);
});
