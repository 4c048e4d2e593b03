import { expect, it } from '@jest/globals';
import type { DeviceQueries, InvocationRecord } from '../../../projections/devices/devices.queries.js';
import { LateReadModel } from '../../../test/support/late-read-model.js';
import type { Commands } from '../../kernel/commands.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import type { SignedInUser } from '../identity/caller.js';
import type { StoredDevices } from './device/stored-devices.js';
import { DevicesController } from './devices.http.js';

const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'c', causationId: 'c' } as const;
const ann: SignedInUser = { kind: 'user', userId: 'ann', roles: ['user'], credential: 'session-token', cause };
const ID = 'dev_00000000000000000000000000000001';

it('shows users the command that they have just had run on a device', async () => {
  const readModel = new LateReadModel('devices');
  const lastWrites = new LastWrites();
  lastWrites.note('ann', 7n);
  const devices = { byId: () => Promise.resolve({ id: ID, ownerId: 'ann', paired: {} }) } as unknown as StoredDevices;
  const run = { command: 'ls', issuedAt: new Date(0) } as InvocationRecord;
  const queries = { auditOf: () => Promise.resolve(readModel.shows(7n) ? [run] : []) } as unknown as DeviceQueries;
  const controller = new DevicesController({} as Commands, devices, queries, readModel, lastWrites);
  expect(await controller.audit(ann, ID)).toMatchObject({ entries: [{ command: 'ls' }] });
});
