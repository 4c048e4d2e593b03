import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { projections } from '../../projections/catalogue.js';
import { projecting } from '../support/projecting.js';
import { type TestDatabase, testDatabase } from '../support/postgres-for-tests.js';
import { featureCodecs, readSamples } from './samples.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database.close());

it.each(projections)('$name sets no shape aside that was ever shipped', async (projection) => {
  const codecs = await featureCodecs(process.cwd());
  // A codec names its types in the order in which they come about.
  const places = Object.values(codecs).flatMap((codec) => Object.keys(codec));
  const samples = readSamples(import.meta.dirname).filter(({ type }) => places.includes(type));
  const inOrder = samples.toSorted((one, other) => places.indexOf(one.type) - places.indexOf(other.type));
  const { given, parked, expectSameAfterRebuild } = await projecting(projection, database.sql);
  for (const { category, type, version, data } of inOrder) {
    const id = String(data[`${category}Id`]);
    await given(`${category}-${id}`, [{ type, data }], { version });
  }
  expect(await parked()).toEqual([]);
  await expectSameAfterRebuild();
});
