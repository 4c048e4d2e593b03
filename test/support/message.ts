import type { Frame } from '../../src/dialogue/journal/message.events.js';
import { type Message, noMessage, withFrame } from '../../src/dialogue/journal/message.policy.js';

/** What frames say as they are stored. */
export const messageOf = (frames: Iterable<string>): Message =>
  [...frames].reduce((message, data) => withFrame(message, JSON.parse(data) as Frame), noMessage);
