import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { LogSealed } from './log-seals.events.js';

export const logSealsCodec: Codec<LogSealed> = { LogSealed: [] };
