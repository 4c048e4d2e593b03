import type { Codec } from '../kernel/codec.js';
import type { MonitorAllowanceEvent } from './monitor-allowance.events.js';

export const monitorAllowanceCodec: Codec<MonitorAllowanceEvent> = { MonitorAdmitted: [], MonitorReleased: [] };
