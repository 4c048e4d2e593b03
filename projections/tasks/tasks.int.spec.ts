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

it('the read model is the same after a rebuild, also if only the purge of a task is left in the log', async () => {
  await model.expectSameAfterRebuild();
  await model.expectSameAfterRebuild(({ stream, type }) => stream !== taskStream('old') || type === 'TaskPurged');
});
