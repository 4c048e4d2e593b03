import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MemoryCredentialVault } from '../../../../test/support/memory-credential-vault.js';
import { cause } from '../../../../test/support/turns.js';
import { decode, encodeMetadata } from '../../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import { newId } from '../../../kernel/ids.js';
import { CredentialsMissing } from '../../../platform/credentials/credential-vault.port.js';
import { PurgeSecrets } from './purge-secrets.reaction.js';
import { toolCodec } from './tool.codec.js';
import { type ToolDefinition, type ToolDeleted, type ToolEvent, toolStream } from './tool.events.js';

it('deleting a tool deletes its current and its earlier secrets, but not those of other tools', async () => {
  const store = new InMemoryEventStore();
  const vault = new MemoryCredentialVault();
  const [first, second, other] = [
    await vault.keep('ann', { key: '1' }),
    await vault.keep('ann', { key: '2' }),
    await vault.keep('ann', { key: '3' }),
  ];
  const stream = toolStream('t1');
  const told = async (event: ToolEvent) => {
    const expected = (await lastEvent(store, stream))?.revision ?? 'none';
    const { type, data } = event;
    await store.append(stream, expected, [{ id: newId(), type, data: JSON.stringify(data), metadata: encodeMetadata(cause) }]);
  };
  await told({
    type: 'ToolCreated',
    data: { toolId: 't1', ownerId: 'ann', definition: { credentialsId: first } as ToolDefinition },
  });
  await told({ type: 'ToolChanged', data: { toolId: 't1', changes: { credentialsId: second } } });
  await told({ type: 'ToolChanged', data: { toolId: 't1', changes: { status: false } } });
  await told({ type: 'ToolDeleted', data: { toolId: 't1' } });
  const deleted = decode<ToolEvent>(toolCodec, (await lastEvent(store, stream))!) as Recorded<ToolDeleted>;
  const reaction = new PurgeSecrets(store, vault);
  await reaction.on.ToolDeleted(deleted);
  await reaction.on.ToolDeleted(deleted);
  for (const id of [first, second]) await expect(vault.reveal('ann', id)).rejects.toThrow(CredentialsMissing);
  expect(await vault.reveal('ann', other)).toEqual({ key: '3' });
});
