import { Injectable, Logger } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { newId } from '../../../kernel/ids.js';
import { type GuardrailDecision, maskSpans, mergeDecisions } from '../../guardrails/guardrail-decisions.policy.js';
import { type GuardrailPolicy, WITHHELD } from '../../guardrails/guardrail.policy.js';
import { RecordGuardrailDecisions } from '../../guardrails/guardrail-record.commands.js';
import { Guardrails } from '../../guardrails/guardrails.port.js';
import type { RetrievedChunk } from './search.port.js';

/** The number of chunks that are checked concurrently. */
const CHUNKS_AT_ONCE_MAX = 8;

/** An agent whose sources are searched, with its `config.guardrails`. */
type SearchedAgent = Readonly<{ agentId: string; ownerId: string; guardrails: unknown }>;

type Checked = Readonly<{ chunk: RetrievedChunk; decisions: readonly GuardrailDecision[] }>;

/** Applies an agent's guardrails to a search without a model, so that it shows no more of the sources than an answer would. */
@Injectable()
export class SearchGuard {
  private readonly logger = new Logger(SearchGuard.name);

  constructor(
    private readonly guardrails: Guardrails,
    private readonly commands: Commands,
  ) {}

  async shown(
    chunks: readonly RetrievedChunk[],
    { agentId, ownerId, guardrails }: SearchedAgent,
    cause: Cause,
  ): Promise<readonly RetrievedChunk[]> {
    const policy = this.guardrails.policyFor(guardrails);
    if (!policy) return chunks;
    const checked: Checked[] = [];
    for (let at = 0; at < chunks.length; at += CHUNKS_AT_ONCE_MAX) {
      const some = chunks.slice(at, at + CHUNKS_AT_ONCE_MAX);
      checked.push(...(await Promise.all(some.map((chunk) => this.checked(policy, chunk)))));
    }
    await this.record(agentId, ownerId, mergeDecisions(checked.flatMap(({ decisions }) => decisions)), cause);
    return checked.map(({ chunk }) => chunk);
  }

  private async checked(policy: GuardrailPolicy, chunk: RetrievedChunk): Promise<Checked> {
    const { title, source, text } = chunk;
    const signal = new AbortController().signal;
    const whole = [title, source, text].join('\n');
    const { verdict, decisions } = await this.guardrails.scan(policy, 'retrieval', whole, {}, signal);
    if (verdict === 'pass') return { chunk, decisions };
    const shown = (part: string) => (verdict === 'block' ? WITHHELD : this.masked(policy, part));
    return { chunk: { ...chunk, title: shown(title), source: shown(source), text: shown(text) }, decisions };
  }

  private masked(policy: GuardrailPolicy, text: string): string {
    return maskSpans(text, this.guardrails.localScan(policy, 'retrieval', text).spans);
  }

  /** A failure to record does not fail the search. */
  private async record(agentId: string, ownerId: string, decisions: readonly GuardrailDecision[], cause: Cause): Promise<void> {
    const subject = { recordId: newId(), ownerId, agentId, messageId: null, requestId: cause.correlationId };
    try {
      await this.commands.execute(new RecordGuardrailDecisions(subject, decisions, cause));
    } catch (error) {
      this.logger.error('What guardrails found for a search could not be recorded.', error);
    }
  }
}
