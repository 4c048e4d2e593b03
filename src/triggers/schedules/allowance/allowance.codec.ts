import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { AllowanceEvent } from './allowance.events.js';

export const scheduleAllowanceCodec: Codec<AllowanceEvent> = { ScheduleAdmitted: [], ScheduleReleased: [] };
