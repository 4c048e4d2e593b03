import { onEventStoreDbAndNats } from './backing.js';
import { openWorld, type World } from './world.js';

/** Two processes over one log: the first has every role, the second only answers requests. */
export async function openTwoProcesses(
  settings: Readonly<Record<string, string>> = {},
): Promise<Readonly<{ first: World; second: World; close(): Promise<void> }>> {
  const backing = await onEventStoreDbAndNats();
  const shared = async () => ({ ...backing, close: async () => undefined });
  const first = await openWorld(settings, shared);
  const second = await openWorld({ ...settings, ROLES: 'api' }, shared);
  return {
    first,
    second,
    close: async () => {
      await second.close();
      await first.close();
      await backing.close();
    },
  };
}
