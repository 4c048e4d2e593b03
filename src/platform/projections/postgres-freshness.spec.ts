import { expect, it } from '@jest/globals';
import type { Sql } from 'postgres';
import { projections } from '../../../projections/catalogue.js';
import { systemTiming } from '../system-timing.js';
import { PostgresFreshness } from './postgres-freshness.js';
import { Progress } from './progress.js';

it('reads the position of one read model while the tables of another are missing', async () => {
  const [missing, there] = projections;
  let isMissing = true;
  const sql = ((first: readonly string[] | string, schema?: string) => {
    if (typeof first === 'string') return first;
    return isMissing && schema?.startsWith(missing!.name.replaceAll('-', '_'))
      ? Promise.reject(new Error('relation does not exist'))
      : Promise.resolve([{ position: '9' }]);
  }) as unknown as Sql;
  const store = {
    readAll: async function* () {
      // The store reports no positions.
    },
  };
  const freshness = new PostgresFreshness(sql, [missing!, there!], new Progress(systemTiming), store, systemTiming, 2_000_000);
  const both = freshness.reached([missing!.name, there!.name], 5n);
  expect(await freshness.reached([there!.name], 5n)).toBe(true);
  isMissing = false;
  expect(await both).toBe(true);
});

it('reads the positions of read models while the log is scanned for a gap', async () => {
  const [projection] = projections;
  let position = '3';
  const sql = ((first: readonly string[] | string) =>
    typeof first === 'string' ? first : Promise.resolve([{ position }])) as unknown as Sql;
  const store = {
    readAll: async function* () {
      position = '9';
      await new Promise(() => undefined);
    },
  };
  const freshness = new PostgresFreshness(sql, [projection!], new Progress(systemTiming), store, systemTiming, 2_000);
  expect(await freshness.reached([projection!.name], 5n)).toBe(true);
});
