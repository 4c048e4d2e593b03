import { runIdOf, type ScheduleEvent } from '../../../src/triggers/schedules/schedule/schedule.events.js';

export const at = (time: string) => `2026-01-01T${time}:00.000Z`;
export const hourly = { kind: 'recurring', cron: '0 * * * *', timezone: 'Europe/Prague', endAt: null } as const;
export const definition = {
  name: 'Look',
  instruction: 'Nul\0',
  timing: hourly,
  toolAllowlist: ['t1'],
  modelId: null,
  tokenBudget: 5,
};
export const created = (scheduleId: string, ownerId = 'ann', nextSlotAt: string | null = at('09:00')): ScheduleEvent => ({
  type: 'ScheduleCreated',
  data: {
    scheduleId,
    ownerId,
    origin: { agentId: `agent-of-${ownerId}`, conversationId: null, createdVia: 'ui' },
    definition,
    createdAt: at('08:30'),
    nextSlotAt,
  },
});
export const slot = (scheduleId: string, hour: number) => ({
  scheduleId,
  slot: at(`${String(hour).padStart(2, '0')}:00`),
  nextSlotAt: at(`${String(hour + 1).padStart(2, '0')}:00`),
});
export const runId = runIdOf('s1', at('09:00'));
