import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { auditLog } from '../../projections/audit-log/audit-log.projection.js';
import { readSamples } from '../../test/event-samples/samples.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { decode } from '../kernel/event-sourcing/codec.js';
import { categoryOf } from '../kernel/event-sourcing/event-store.js';
import { ROOMS } from './rooms.js';

const samples = readSamples('test/event-samples');
const purges = ROOMS.flatMap(({ purges: ofRoom }) => ofRoom ?? []);

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

it.each(purges)('the audit log holds no event that a $type has truncated', async (purge) => {
  const sample = samples.find(({ type, category }) => type === purge.type && category === purge.category)!;
  const audit = await projecting(auditLog, database.sql);
  const said = (count: number) => Array.from({ length: count }, () => ({ type: 'ThingSaid', data: {} }));
  const stream = `${purge.category}-1`;
  // An event that truncates another stream is appended after the events of that stream.
  const probe = { ...sample, id: '', stream, revision: 2, position: 0n, at: new Date(0), cause: {} } as never;
  const truncations = purge.truncated?.(probe) ?? [{ stream, before: 2 }];
  for (const { stream: cut, before } of truncations) await audit.given(cut, said(before));
  const own = truncations.find(({ stream: cut }) => categoryOf(cut) === purge.category)?.stream ?? stream;
  const [stored] = await audit.given(own, [{ type: purge.type, data: sample.data }]);
  expect(decode(purge.codec, stored!)).toBeDefined();
  const isCut = (event: Readonly<{ stream: string; revision: number }>) =>
    truncations.some(({ stream: cut, before }) => cut === event.stream && event.revision < before);
  const left = await database.sql<{ stream: string; revision: string }[]>`select stream, revision::text from audit_log.event`;
  expect(left.filter(({ stream: of, revision }) => isCut({ stream: of, revision: Number(revision) }))).toEqual([]);
  expect(left.some(({ stream: of }) => of === own)).toBe(true);
  await audit.expectSameAfterRebuild((event) => !isCut(event));
});
