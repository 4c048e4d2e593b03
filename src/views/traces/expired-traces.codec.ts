import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { TracesExpired } from './expired-traces.events.js';

export const expiredTracesCodec: Codec<TracesExpired> = { TracesExpired: [] };
