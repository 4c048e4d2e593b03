import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { projections } from '../../projections/catalogue.js';
import { deterministicId } from '../../src/kernel/ids.js';
import { projecting } from '../support/projecting.js';
import { type TestDatabase, testDatabase } from '../support/postgres-for-tests.js';
import { featureCodecs, readSamples, type Sample } from './samples.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database.close());

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const DEVICE_OR_INVOCATION = /\b(dev|inv)_[0-9a-f]{32}\b/g;

/** Whole histories, each with different ids, so that every variant of every shape is applied to something that exists. */
function histories(types: readonly string[], samples: readonly Sample[]): readonly (readonly Sample[])[] {
  const faces = types.map((type) => samples.filter((sample) => sample.type === type)).filter((found) => found.length > 0);
  const rounds = Math.max(...faces.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    faces.map((found) => {
      const text = JSON.stringify(found[Math.min(round, found.length - 1)]);
      const other = text
        .replaceAll(UUID, (id) => deterministicId(round, id))
        .replaceAll(DEVICE_OR_INVOCATION, (id, kind: string) => `${kind}_${deterministicId(round, id).replaceAll('-', '')}`);
      return JSON.parse(other) as Sample;
    }),
  );
}

it.each(projections)('$name parks no shape that was ever shipped', async (projection) => {
  const codecs = await featureCodecs();
  // A codec lists its types in the order in which they occur.
  const types = Object.values(codecs).flatMap((codec) => Object.keys(codec));
  const { given, parked, expectSameAfterRebuild } = await projecting(projection, database.sql);
  for (const { category, type, version, data } of histories(types, readSamples(import.meta.dirname)).flat()) {
    const id = String(data[`${category}Id`]);
    await given(`${category}-${id}`, [{ type, data }], { version });
  }
  expect(await parked()).toEqual([]);
  await expectSameAfterRebuild();
});
