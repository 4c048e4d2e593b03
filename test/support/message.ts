import type { Frame } from '../../src/dialogue/journal/message.events.js';
import { type Message, noMessage, withFrame } from '../../src/dialogue/journal/message.policy.js';

/** The message that these stored frames add up to. */
export const messageOf = (frames: Iterable<string>): Message =>
  [...frames].reduce((message, data) => withFrame(message, JSON.parse(data) as Frame), noMessage);
