import type { Family } from '../../kernel/access.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

/** The owner of a resource has changed what its grants allow. Holds only the switches that changed. */
export type ResourceSettingsChanged = Event<
  'ResourceSettingsChanged',
  { family: Family; resourceId: string; switches: Readonly<Record<string, boolean>>; changedAt: string }
>;

export const resourceSettingsStream = (family: Family, resourceId: string): string => `resourceSettings-${family}.${resourceId}`;
