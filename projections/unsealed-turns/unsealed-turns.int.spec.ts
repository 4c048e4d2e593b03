import { expect, it } from '@jest/globals';
import type { Sql } from 'postgres';
import { inPostgres } from '../../test/contracts/read-models/read-model.subject.js';
import { unsealedTurnsContract } from '../../test/contracts/read-models/unsealed-turns.contract.js';
import { ReadModels } from '../read-models.js';
import { unsealedTurns } from './unsealed-turns.projection.js';
import { UnsealedTurnQueries } from './unsealed-turns.queries.js';

let model: Awaited<ReturnType<typeof inPostgres>>['model'];

unsealedTurnsContract(async () => {
  const subject = await inPostgres(unsealedTurns, (readModels) => new UnsealedTurnQueries(readModels));
  ({ model } = subject);
  return subject;
});

it('the read model is unchanged by repeated events and the same after a rebuild', async () => {
  await model.again();
  await model.expectSameAfterRebuild();
});

it('sends no statement for no producers and no conversations, as every second of an idle service asks', async () => {
  const none = new UnsealedTurnQueries(
    new ReadModels((() => {
      throw new Error('A statement was sent.');
    }) as unknown as Sql),
  );
  expect(await none.takenBy([], [], 1)).toEqual([]);
  expect(await none.conversationsUnderWay([])).toEqual(new Set());
});
