import type { Family } from '../../kernel/access.js';
import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { switchesOf } from '../identity/grants.policy.js';
import { resourceSettingsCodec } from './resource-settings.codec.js';
import type { ResourceSettingsChanged } from './resource-settings.events.js';

/** The switches that the owner of a resource has set, by their names. */
export type ResourceSettings = Readonly<Record<string, boolean>>;

export const resourceSettings: Aggregate<ResourceSettings, ResourceSettingsChanged> = {
  initial: {},
  evolve: (state, { data }) => ({ ...state, ...data.switches }),
  codec: resourceSettingsCodec,
};

/** Changes switches of a resource. Records only those whose value differs from the current one. */
export const change =
  (
    thing: Readonly<{ family: Family; resourceId: string }>,
    wanted: ResourceSettings,
    now: Date,
  ): Decision<ResourceSettings, ResourceSettingsChanged> =>
  (state) => {
    const current = switchesOf(thing.family, state);
    const switches = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => current[name] !== value));
    if (Object.keys(switches).length === 0) return [];
    return [{ type: 'ResourceSettingsChanged', data: { ...thing, switches, changedAt: now.toISOString() } }];
  };
