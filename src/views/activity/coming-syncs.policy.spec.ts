import { expect, it } from '@jest/globals';
import { syncEvents } from './coming-syncs.policy.js';

const at = (minute: number, second = 0) => new Date(Date.UTC(2026, 0, 1, 9, minute, second));
const sync = (name: string, frequency: string, nextSyncAt: Date) => ({ sourceId: `id-${name}`, name, frequency, nextSyncAt });
const window = { from: at(0).getTime(), until: at(30).getTime() };

it('sources with the same frequency that are due in the same minute share one event', () => {
  const syncs = [
    sync('b', 'daily', at(10, 40)),
    sync('a', 'daily', at(10, 5)),
    sync('c', 'weekly', at(10)),
    sync('d', 'daily', at(11)),
  ];
  const source = (name: string) => ({ id: `id-${name}`, name });
  expect(syncEvents(syncs, window, window.from)).toEqual([
    { kind: 'sync', at: at(10).toISOString(), frequency: 'weekly', sources: [source('c')] },
    { kind: 'sync', at: at(10, 5).toISOString(), frequency: 'daily', sources: [source('a'), source('b')] },
    { kind: 'sync', at: at(11).toISOString(), frequency: 'daily', sources: [source('d')] },
  ]);
});

it('only future syncs in the window are shown', () => {
  const syncs = [
    sync('past', 'daily', at(4)),
    sync('first', 'daily', at(5)),
    sync('last', 'daily', at(29)),
    sync('out', 'daily', at(30)),
  ];
  const shown = syncEvents(syncs, window, at(5).getTime());
  expect(shown.flatMap(({ sources }) => sources.map(({ name }) => name))).toEqual(['first', 'last']);
});
