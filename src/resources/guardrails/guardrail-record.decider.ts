import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { guardrailCodec } from './guardrail-record.codec.js';
import type { GuardrailRecordEvent, GuardrailSubject } from './guardrail-record.events.js';
import { type GuardrailDecision, mergeDecisions } from './guardrail-decisions.policy.js';

/** The recorded decisions about one turn, run or delivery: the gravest of each control, and the time of the last recording. */
export type GuardrailRecord = Readonly<{
  decisions: ReadonlyMap<string, GuardrailDecision>;
  recordedAt: string | null;
  isPurged: boolean;
}>;

type Decide = Decision<GuardrailRecord, GuardrailRecordEvent>;

const controlOf = ({ stage, check }: GuardrailDecision) => `${stage} ${check}`;

const initial: GuardrailRecord = { decisions: new Map(), recordedAt: null, isPurged: false };

export const guardrailRecord: Aggregate<GuardrailRecord, GuardrailRecordEvent> = { initial, evolve, codec: guardrailCodec };

function evolve(state: GuardrailRecord, event: GuardrailRecordEvent): GuardrailRecord {
  switch (event.type) {
    case 'GuardrailDecisionsRecorded': {
      const { decisions, recordedAt } = event.data;
      const known = new Map([...state.decisions, ...decisions.map((decision) => [controlOf(decision), decision] as const)]);
      return { ...state, decisions: known, recordedAt };
    }
    case 'GuardrailRecordPurged':
      return { ...initial, isPurged: true };
  }
}

/** Records the decisions that are graver than the recorded ones or have more matches. */
export const record =
  (
    subject: GuardrailSubject,
    decisions: readonly GuardrailDecision[],
    now: Date,
  ): Decision<GuardrailRecord, GuardrailRecordEvent> =>
  (state) => {
    if (state.isPurged) return [];
    const additions = mergeDecisions(decisions).filter((decision) =>
      saysMore(decision, state.decisions.get(controlOf(decision))),
    );
    if (additions.length === 0) return [];
    return [{ type: 'GuardrailDecisionsRecorded', data: { ...subject, decisions: additions, recordedAt: now.toISOString() } }];
  };

/** A match is graver than a control that was not evaluated, and more matches are graver than fewer. */
function saysMore(decision: GuardrailDecision, recorded: GuardrailDecision | undefined): boolean {
  if (!recorded) return true;
  if (decision.outcome !== recorded.outcome) return decision.outcome === 'triggered';
  return decision.matchCount > recorded.matchCount;
}

/** Purges a record unless something was recorded at or after `recordedBefore`. */
export const purgeRecord =
  (recordId: string, recordedBefore: Date): Decide =>
  ({ recordedAt }) =>
    recordedAt === null || new Date(recordedAt) >= recordedBefore ? [] : [{ type: 'GuardrailRecordPurged', data: { recordId } }];
