import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

/** A user wants to chat without one of the tools that everybody has; `name` is that of its kind. */
export type DefaultToolSwitchedOff = Event<'DefaultToolSwitchedOff', { userId: string; name: string }>;
export type DefaultToolSwitchedOn = Event<'DefaultToolSwitchedOn', { userId: string; name: string }>;

export type DefaultToolsEvent = DefaultToolSwitchedOff | DefaultToolSwitchedOn;

/** A user may have any text for an id, a stream may not have any text for a name. */
export const defaultToolsStream = (userId: string): string => `defaultTools-${deterministicId('default-tools', userId)}`;
