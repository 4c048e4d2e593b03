import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { MonitorAllowanceEvent } from './monitor-allowance.events.js';

export const monitorAllowanceCodec: Codec<MonitorAllowanceEvent> = { MonitorAdmitted: [], MonitorReleased: [] };
