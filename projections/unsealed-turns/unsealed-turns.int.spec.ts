import { it } from '@jest/globals';
import { inPostgres } from '../../test/contracts/read-models/read-model.subject.js';
import { unsealedTurnsContract } from '../../test/contracts/read-models/unsealed-turns.contract.js';
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
