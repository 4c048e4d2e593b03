import { Logger } from '@nestjs/common';
import { APIConnectionError, APIError } from 'openai';
import type { Timing } from '../../../kernel/timing.js';
import type { ModelFailed, ModelFailure } from '../model/language-model.port.js';

/** How often a kind of failure is logged while it lasts. */
export const MODEL_FAILURE_LOGGED_EVERY_MS = 60_000;

/** Failures that lie in the question, so that no operator can mend them. */
const OF_QUESTIONS: ReadonlySet<ModelFailure> = new Set(['context-too-long', 'refused']);

/** Logs failures of the operator's models. Errors of an endpoint may quote a key or a question, so their text is not logged. */
export class ModelFailureLog {
  private readonly logger = new Logger('LanguageModels');
  private readonly loggedAt = new Map<ModelFailure, number>();

  constructor(private readonly timing: Pick<Timing, 'elapsedMs'>) {}

  note(what: string, { failure, cause }: ModelFailed): void {
    const now = this.timing.elapsedMs();
    const before = this.loggedAt.get(failure) ?? -Infinity;
    if (OF_QUESTIONS.has(failure) || now - before < MODEL_FAILURE_LOGGED_EVERY_MS) return;
    this.loggedAt.set(failure, now);
    const seconds = MODEL_FAILURE_LOGGED_EVERY_MS / 1000;
    this.logger.warn(
      `${what} failed: ${failure}${reasonOf(cause)}. Failures of this kind are not logged again for ${seconds} s.`,
    );
  }
}

/** The status of the endpoint, or why it could not be reached. */
function reasonOf(cause: unknown): string {
  if (cause instanceof APIConnectionError) return ` (${rootOf(cause).message})`;
  return cause instanceof APIError && cause.status !== undefined ? ` (HTTP ${String(cause.status)})` : '';
}

const rootOf = (error: Error): Error => (error.cause instanceof Error ? rootOf(error.cause) : error);
