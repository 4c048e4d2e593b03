import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { ReadModels } from '../../projections/read-models.js';
import { usage } from '../../projections/usage/usage.projection.js';
import { UsageQueries } from '../../projections/usage/usage.queries.js';
import { testDatabase, type TestDatabase } from './postgres-for-tests.js';
import { projecting } from './projecting.js';

/** The parts of an answer that was not begun. */
export const parts = { answer: '', thought: '', sources: [], toolCalls: [], structured: false };
export const used = (promptTokens: number, completionTokens: number) => ({ promptTokens, completionTokens });
/** A time in November. */
export const at = (time: string) => ({ at: new Date(`2026-11-${time}Z`) });
export const date = (time: string) => at(time).at;

/** The read model of usage and its queries, anew for each test. */
export const usageModel = {} as { model: Awaited<ReturnType<typeof projecting>>; queries: UsageQueries };

/** Projects usage in each test of a suite. After each, repeated events and a rebuild must not change the read model. */
export function projectUsage(): void {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    usageModel.model = await projecting(usage, database.sql);
    usageModel.queries = new UsageQueries(new ReadModels(database.sql));
  });
  afterEach(async () => {
    await usageModel.model.again();
    await usageModel.model.expectSameAfterRebuild();
  });
}

/** What an agent has used since a time. */
export const ofAgent = (since: string, ids: readonly string[] = []) =>
  usageModel.queries.used({ agentId: 'helper' }, date(since), ids);
