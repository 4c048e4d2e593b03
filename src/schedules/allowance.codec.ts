import type { Codec } from '../kernel/codec.js';
import type { AllowanceEvent } from './allowance.events.js';

export const scheduleAllowanceCodec: Codec<AllowanceEvent> = { ScheduleAdmitted: [], ScheduleReleased: [] };
