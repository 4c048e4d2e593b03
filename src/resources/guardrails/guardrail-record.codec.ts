import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { GuardrailRecordEvent } from './guardrail-record.events.js';

export const guardrailCodec: Codec<GuardrailRecordEvent> = { GuardrailDecisionsRecorded: [], GuardrailRecordPurged: [] };
