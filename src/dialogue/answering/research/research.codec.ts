import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { ResearchEvent } from './research.events.js';

export const researchCodec: Codec<ResearchEvent> = {
  ResearchClarificationAsked: [],
  ResearchPlanned: [],
  ResearchStepReported: [],
  ResearchPurged: [],
};
