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

it('a command of a pattern may have 16,384 characters, and no more', async () => {
  const sent = new Error('The command was sent.');
  const devices = {
    byId: () => Promise.resolve({ id: ID, ownerId: 'ann', paired: {}, patterns: [] }),
  } as unknown as StoredDevices;
  const commands = { execute: () => Promise.reject(sent) } as unknown as Commands;
  const controller = new DevicesController(commands, devices, {} as DeviceQueries, {} as never, {} as never);
  const add = async (characters: number) => controller.addPattern(ann, ID, { command: 'x'.repeat(characters) });
  await expect(add(16_384)).rejects.toBe(sent);
  await expect(add(16_385)).rejects.toMatchObject({ code: 'device-invalid-command' });
});

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
