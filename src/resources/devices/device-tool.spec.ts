import { expect, it } from '@jest/globals';
import type { DeviceQueries } from '../../../projections/devices/devices.queries.js';
import type { Command, Commands } from '../../kernel/commands.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, ReadModelsBehind } from '../../kernel/event-sourcing/freshness.js';
import type { Streams } from '../../kernel/event-sourcing/streams.js';
import type { DeviceRevoked } from './device/device.events.js';
import { DeviceTools } from './device-tool.reaction.js';
import { GiveUpInvocation } from './invocations/device-invocation.commands.js';

const POSITION = 7n;
const revoked = {
  type: 'DeviceRevoked',
  data: { deviceId: 'd1', ownerId: 'ann', toolId: 't1', revokedAt: '2026-01-01T00:00:00.000Z' },
  position: POSITION,
  id: 'e1',
  cause: { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' },
} as unknown as Recorded<DeviceRevoked>;

/** The reaction to a revocation, before which a command was requested that the read model shows once it `isFresh`. */
function world(isFresh: boolean) {
  let isShown = false;
  const freshness = new (class extends Freshness {
    async reached(projections: readonly string[], position: bigint): Promise<boolean> {
      return (isShown = isFresh && projections.includes('devices') && position === POSITION);
    }
  })();
  const queries = { openOf: async () => (isShown ? ['inv_1'] : []) } as unknown as DeviceQueries;
  const ended: string[] = [];
  const execute = async (command: Command<unknown>) =>
    void (command instanceof GiveUpInvocation && ended.push(`${command.invocationId} ${command.reason}`));
  const reaction = new DeviceTools({ execute } as unknown as Commands, {} as Streams, queries, freshness);
  return { ended, react: () => reaction.on.DeviceRevoked(revoked) };
}

it('a revocation ends a command that the read model shows only some time later', async () => {
  const { ended, react } = world(true);
  await react();
  expect(ended).toEqual(['inv_1 device_revoked']);
});

it('a revocation is repeated while the read model lags behind it', async () => {
  const { ended, react } = world(false);
  await expect(react()).rejects.toThrow(ReadModelsBehind);
  expect(ended).toEqual([]);
});
