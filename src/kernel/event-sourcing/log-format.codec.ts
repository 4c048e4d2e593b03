import type { Codec } from './codec.js';
import type { LogFormatDeclared } from './log-format.events.js';

export const logCodec: Codec<LogFormatDeclared> = { LogFormatDeclared: [] };
