import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { accounts } from '../../../test/support/accounts.js';
import { projections } from '../../../projections/catalogue.js';
import type { Projection } from '../../../projections/projection.js';
import { definitionOf } from './definition.js';

const fingerprintOf = async (projection: Projection) => (await definitionOf(projection)).fingerprint;

it('the fingerprint of a projection changes exactly when a change can produce other rows from the same log', async () => {
  const same = await fingerprintOf(accounts());
  expect(await fingerprintOf({ ...accounts(), categories: ['account'] })).toBe(same);
  const commented = `-- Accounts.\n${await readFile(accounts().ddl, 'utf8')}  -- That is all.\n`;
  expect(await fingerprintOf(accounts('accounts', { ddl: commented }))).toBe(same);
  const { MoneyMoved, ...fewer } = accounts().on;
  const upcast = { ...accounts().codec, MoneyMoved: [() => ({})] };
  const changed = await Promise.all(
    [
      accounts('accounts', { version: 2 }),
      accounts('accounts', { ddl: 'create table other (id text)' }),
      { ...accounts(), categories: ['account', 'bank'] },
      { ...accounts(), codec: upcast },
      { ...accounts(), on: fewer },
    ].map(fingerprintOf),
  );
  expect(MoneyMoved).toBeDefined();
  expect(new Set([same, ...changed]).size).toBe(6);
});

it.each(projections.map((projection) => [projection.name, projection] as const))(
  'no statement of the read model %s has `--` within a literal, which the fingerprint would skip',
  async (_, { ddl }) => {
    const isWithinLiteral = (line: string) => line.slice(0, line.indexOf('--')).split("'").length % 2 === 0;
    const lines = (await readFile(ddl, 'utf8')).split('\n').filter((line) => line.includes('--'));
    expect(lines.filter(isWithinLiteral)).toEqual([]);
  },
);
