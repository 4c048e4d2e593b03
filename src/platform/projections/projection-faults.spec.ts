import { expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { InProcessKeyValue } from '../messaging/key-value/in-process-key-value.js';
import { FAULT_TTL_MS, ProjectionFaults } from './projection-faults.js';

const told = async (faults: ProjectionFaults) => Object.fromEntries(await faults.all());

it('a fault is visible in other processes until it is cleared', async () => {
  const shared = new InProcessKeyValue();
  const [here, there] = [new ProjectionFaults(shared), new ProjectionFaults(shared)];
  here.report('agents', 'refused');
  here.report('chunks', 'refused as well');
  await eventually(async () => (await there.all()).size === 2);
  expect(await told(there)).toEqual({ agents: 'refused', chunks: 'refused as well' });
  here.report('agents', undefined);
  await eventually(async () => (await there.all()).size === 1);
  expect(await told(there)).toEqual({ chunks: 'refused as well' });
});

it('the newest state of a projection is kept when several follow each other quickly', async () => {
  const faults = new ProjectionFaults(new InProcessKeyValue());
  for (const fault of ['one', undefined, 'two', undefined]) faults.report('agents', fault);
  faults.report('chunks', 'last');
  await eventually(async () => (await faults.all()).has('chunks'));
  expect(await told(faults)).toEqual({ chunks: 'last' });
});

it('a fault that is not renewed expires', async () => {
  let now = 0;
  const faults = new ProjectionFaults(new InProcessKeyValue(() => now));
  faults.report('agents', 'refused');
  await eventually(async () => (await faults.all()).size === 1);
  now = FAULT_TTL_MS - 1;
  expect(await told(faults)).toEqual({ agents: 'refused' });
  now = FAULT_TTL_MS;
  expect(await told(faults)).toEqual({});
});
