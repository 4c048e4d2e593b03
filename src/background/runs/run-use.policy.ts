import type { Usage } from '../../dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { RunEvent, RunUse } from './run.events.js';

/** The requests and tokens that a run used, with the time at which each became known. */
export function usedBy(events: readonly Recorded<RunEvent>[]): readonly RunUse[] {
  const used: RunUse[] = [];
  for (const event of events) {
    const { revision, at } = event;
    const tokens = tokensOf(event);
    const requests = event.type === 'RunStarted' && used.length === 0 ? 1 : 0;
    if (requests + tokens.promptTokens + tokens.completionTokens === 0) continue;
    used.push({ revision, at: at.toISOString(), requests, ...tokens });
  }
  return used;
}

const NOTHING: Usage = { promptTokens: 0, completionTokens: 0 };

function tokensOf(event: RunEvent): Usage {
  if (event.type !== 'RunAttemptAbandoned' && event.type !== 'RunFinished') return NOTHING;
  return event.data.usage ?? NOTHING;
}
