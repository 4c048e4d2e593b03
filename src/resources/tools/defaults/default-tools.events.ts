import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

/** A user switched a default tool off; `name` is that of its kind. */
export type DefaultToolSwitchedOff = Event<'DefaultToolSwitchedOff', { userId: string; name: string }>;
export type DefaultToolSwitchedOn = Event<'DefaultToolSwitchedOn', { userId: string; name: string }>;

export type DefaultToolsEvent = DefaultToolSwitchedOff | DefaultToolSwitchedOn;

/** The id is hashed, because a user id may contain characters that a stream name may not. */
export const defaultToolsStream = (userId: string): string => `defaultTools-${deterministicId('default-tools', userId)}`;
