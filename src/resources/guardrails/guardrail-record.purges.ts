import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { guardrailCodec } from './guardrail-record.codec.js';
import type { GuardrailRecordPurged } from './guardrail-record.events.js';

export const guardrailRecordPurges = [
  purgeOf<GuardrailRecordPurged>({ category: 'guardrail', codec: guardrailCodec, type: 'GuardrailRecordPurged' }),
];
