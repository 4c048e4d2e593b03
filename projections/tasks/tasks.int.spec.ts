import { it } from '@jest/globals';
import { tasksContract } from '../../test/contracts/read-models/tasks.contract.js';
import { inPostgres } from '../../test/contracts/read-models/read-model.subject.js';
import { taskStream } from '../../src/work/tasks/task.events.js';
import { tasks } from './tasks.projection.js';
import { TaskQueries } from './tasks.queries.js';

let model: Awaited<ReturnType<typeof inPostgres>>['model'];

tasksContract(async () => {
  const subject = await inPostgres(tasks, (readModels) => new TaskQueries(readModels));
  ({ model } = subject);
  return subject;
});

it('says the same after a rebuild, also where a task is purged and the rest of it is gone', async () => {
  await model.expectSameAfterRebuild();
  await model.expectSameAfterRebuild(({ stream, type }) => stream !== taskStream('old') || type === 'TaskPurged');
});
