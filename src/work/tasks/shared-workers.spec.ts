import { expect, it } from '@jest/globals';
import { SharedWorkers } from './shared-workers.js';
import type { WorkerLimits } from './task-runner.port.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Workers whose tasks end when the test calls `end`. Task `a1` belongs to owner `a`. */
function handsOf(workers: WorkerLimits, limits?: { heldMax: number; waitingMax: number }) {
  const shared = limits ? new SharedWorkers(workers, limits) : new SharedWorkers(workers);
  const begun: string[] = [];
  const letGo: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const take = (taskId: string) => {
    const work = () => {
      begun.push(taskId);
      return new Promise<void>((resolve, reject) => ends.set(taskId, (error) => (error ? reject(error) : resolve())));
    };
    return shared.take(taskId, taskId[0]!, work).then(() => void letGo.push(taskId));
  };
  const end = async (taskId: string, error?: Error) => {
    ends.get(taskId)!(error);
    await turn();
  };
  return { shared, begun, letGo, take, end };
}

it('runs a bounded number of tasks in total and per owner, and lets owners take turns', async () => {
  const { begun, take, end } = handsOf({ max: 3, perOwnerMax: 2 });
  for (const task of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void take(task);
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('a1');
  expect(begun.slice(3)).toEqual(['c1']);
  await end('a2');
  await end('b1');
  expect(begun.slice(4)).toEqual(['a3', 'b2']);
});

it('keeps a worker free for others when the tasks of one owner do not end', async () => {
  const { begun, take } = handsOf({ max: 3, perOwnerMax: 2 });
  for (let task = 1; task <= 9; task++) void take(`a${task}`);
  void take('b1');
  expect(begun).toEqual(['a1', 'a2', 'b1']);
});

it('holds a nudge until its task has ended and passes a failure on', async () => {
  const { letGo, take, end } = handsOf({ max: 1, perOwnerMax: 1 });
  void take('a1');
  const failing = take('a2');
  await end('a1');
  expect(letGo).toEqual(['a1']);
  await Promise.all([expect(failing).rejects.toThrow('Away.'), end('a2', new Error('Away.'))]);
});

it('queues the same task once', async () => {
  const { begun, letGo, take, end } = handsOf({ max: 1, perOwnerMax: 1 });
  for (const task of ['a1', 'a2', 'a2']) void take(task);
  await turn();
  expect(letGo).toEqual(['a2']);
  await end('a1');
  await end('a2');
  expect(begun).toEqual(['a1', 'a2']);
});

it('holds at most heldMax nudges, and queues the tasks of the released ones too', async () => {
  const { shared, begun, letGo, take, end } = handsOf({ max: 1, perOwnerMax: 1 }, { heldMax: 2, waitingMax: 10 });
  for (const task of ['a1', 'a2', 'a3', 'a4']) void take(task);
  await turn();
  expect(letGo).toEqual(['a4']);
  for (const task of ['a1', 'a2', 'a3', 'a4']) await end(task);
  expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
  expect(shared.nudgesMax).toBe(4);
});

it('drops the newest task of the owner with the most waiting tasks when too many wait', async () => {
  const { begun, letGo, take, end } = handsOf({ max: 1, perOwnerMax: 1 }, { heldMax: 5, waitingMax: 3 });
  for (const task of ['a1', 'a2', 'b1', 'b2', 'b3']) void take(task);
  await turn();
  expect(letGo).toEqual(['b3']);
  for (const task of ['a1', 'b1', 'a2', 'b2']) await end(task);
  expect(begun).toEqual(['a1', 'b1', 'a2', 'b2']);
});

it('passes the waiting tasks back to the queue and waits for the running ones when it closes', async () => {
  const { shared, begun, letGo, take, end } = handsOf({ max: 1, perOwnerMax: 1 });
  void take('a1');
  const waiting = expect(take('a2')).rejects.toThrow('The worker stops.');
  let isClosed = false;
  const closing = shared.close().then(() => (isClosed = true));
  await waiting;
  await expect(take('b1')).rejects.toThrow('The worker stops.');
  expect([letGo, isClosed]).toEqual([[], false]);
  await end('a1');
  await closing;
  expect([letGo, begun]).toEqual([['a1'], ['a1']]);
});
