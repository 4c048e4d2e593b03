import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import type { ResearchPlan } from '../../journal/message.events.js';
import { researchCodec } from './research.codec.js';
import type { ResearchEvent, ResearchPlanned, ResearchStepReported, ResearchUse } from './research.events.js';

/** The state of a research. */
export type Research = Readonly<{
  /** The question to the user with which the research ended. */
  clarification: string | null;
  plan: ResearchPlan | null;
  /** The reports of the finished steps, in order. */
  reports: readonly ResearchStepReported['data'][];
  used: ResearchUse;
  isPurged: boolean;
}>;

export const NOTHING_USED: ResearchUse = { elapsedMs: 0, promptTokens: 0, completionTokens: 0 };
const initial: Research = { clarification: null, plan: null, reports: [], used: NOTHING_USED, isPurged: false };

export const research: Aggregate<Research, ResearchEvent> = { initial, evolve, codec: researchCodec };

function evolve(state: Research, event: ResearchEvent): Research {
  switch (event.type) {
    case 'ResearchClarificationAsked':
      return { ...state, clarification: event.data.text };
    case 'ResearchPlanned': {
      const { steps, complexity, used } = event.data;
      return { ...state, plan: { steps, complexity }, used };
    }
    case 'ResearchStepReported':
      return { ...state, reports: [...state.reports, event.data], used: event.data.used };
    case 'ResearchPurged':
      return { ...initial, isPurged: true };
  }
}

type Decide = Decision<Research, ResearchEvent>;

const isBegun = ({ clarification, plan, isPurged }: Research): boolean => clarification !== null || plan !== null || isPurged;

/** A research asks for clarification only once and only before it has a plan. */
export const askClarification =
  (turnId: string, text: string): Decide =>
  (state) =>
    isBegun(state) ? [] : [{ type: 'ResearchClarificationAsked', data: { turnId, text } }];

/** Only the first plan is recorded. */
export const recordPlan =
  (data: ResearchPlanned['data']): Decide =>
  (state) =>
    isBegun(state) ? [] : [{ type: 'ResearchPlanned', data }];

/** Steps are reported in order, each once. */
export const recordReport =
  (data: ResearchStepReported['data']): Decide =>
  ({ plan, reports }) =>
    plan !== null && data.step === reports.length + 1 && data.step <= plan.steps.length
      ? [{ type: 'ResearchStepReported', data }]
      : [];

export const purge =
  (turnId: string): Decide =>
  (state) => {
    if (state.isPurged || !isBegun(state)) return [];
    const blobs = state.reports.flatMap(({ findings }) => ('blob' in findings ? [findings.blob.sha256] : []));
    return [{ type: 'ResearchPurged', data: { turnId, blobs } }];
  };
