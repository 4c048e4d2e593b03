import { Injectable, Logger } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { GuardrailPolicy, GuardrailStage } from '../../../resources/guardrails/guardrail.policy.js';
import { RecordGuardrailDecisions } from '../../../resources/guardrails/guardrail-record.commands.js';
import { Guardrails } from '../../../resources/guardrails/guardrails.port.js';
import { blockedInput, ConversationGuard } from '../../conversation/conversation-guard.js';
import type { CheckedInput, TurnSettings } from '../../conversation/conversation.events.js';
import type { CallAnswer } from '../../conversation/pause.decider.js';
import type { ResolvedQuestion } from './resolve-question.js';
import { type Given, InputChecks } from '../guardrails/input-checks.port.js';
import { WITHHELD } from '../../../resources/guardrails/guardrail.policy.js';
import { TurnGuard } from '../loop/turn-guard.js';

/** Checks input before the append that accepts it. */
@Injectable()
export class InputGuard extends InputChecks {
  private readonly logger = new Logger(InputGuard.name);

  constructor(
    private readonly guardrails: Guardrails,
    private readonly conversations: ConversationGuard,
    private readonly commands: Commands,
  ) {
    super();
  }

  policyFor(config: unknown): GuardrailPolicy | undefined {
    return this.guardrails.policyFor(config);
  }

  async check<T>(
    policy: GuardrailPolicy | undefined,
    value: T,
    msMax?: number,
    stage: GuardrailStage = 'input',
  ): Promise<Given<T>> {
    if (!policy) return { isBlocked: false, value };
    const bound = msMax === undefined || policy.timeoutMs <= msMax ? policy : { ...policy, timeoutMs: msMax };
    const guard = new TurnGuard(this.guardrails, bound, new AbortController().signal);
    const { verdict, value: masked, decisions } = await guard.checked(stage, value);
    const usage = guard.takeUsage();
    const found = { decisions, ...(usage && { usage }) };
    if (verdict === 'block') return { isBlocked: true, checked: { ...found, blockMessage: policy.blockMessage } };
    return { isBlocked: false, value: masked, ...((decisions.length > 0 || usage) && { checked: found }) };
  }

  /**
   * Checks a question with its history, passthrough values and system prompt. A marker replaces a blocked question, whose turn
   * then ends as blocked.
   */
  async question(resolved: ResolvedQuestion): Promise<ResolvedQuestion> {
    const { settings, question, history } = resolved;
    if (!settings.guardrails) return resolved;
    const given = await this.check(settings.guardrails, [
      question,
      history.map(({ prompt, response }) => [prompt, response]),
      settings.passthrough,
      settings.systemPrompt ?? null,
    ] as const);
    if (given.isBlocked) {
      const { systemPrompt: _, ...rest } = settings;
      const nothing = { question: WITHHELD, history: [], settings: { ...rest, passthrough: {} } };
      return { ...resolved, ...nothing, checked: given.checked };
    }
    const [masked, exchanges, passthrough, systemPrompt] = given.value;
    return {
      ...resolved,
      question: masked,
      history: exchanges.map(([prompt, response]) => ({ prompt: prompt!, response: response! })),
      settings: { ...settings, passthrough, ...(systemPrompt !== null && { systemPrompt }) },
      ...(given.checked && { checked: given.checked }),
    };
  }

  /** Checks the question of an automatic turn. A marker replaces a blocked question. */
  async automaticQuestion(
    question: string,
    { guardrails }: TurnSettings,
  ): Promise<Readonly<{ question: string; checked?: CheckedInput }>> {
    const given = await this.check(guardrails, question);
    if (given.isBlocked) return { question: WITHHELD, checked: given.checked };
    return { question: given.value, ...(given.checked && { checked: given.checked }) };
  }

  /** Checks a client's answers to pending calls: comments as input, results as tool results. Markers replace blocked texts. */
  async callAnswers(
    answers: readonly CallAnswer[],
    policy: GuardrailPolicy,
  ): Promise<Readonly<{ answers: readonly CallAnswer[]; checked: CheckedInput }>> {
    const guard = new TurnGuard(this.guardrails, policy, new AbortController().signal);
    const guarded: CallAnswer[] = [];
    for (const answer of answers) {
      if ('result' in answer)
        guarded.push({ ...answer, result: JSON.stringify(await guard.toolResult(JSON.parse(answer.result))) });
      else if (answer.decision === 'denied' && answer.comment) {
        guarded.push({ ...answer, comment: (await guard.orWithheld('input', answer.comment, WITHHELD)) as string });
      } else guarded.push(answer);
    }
    const usage = guard.takeUsage();
    return { answers: guarded, checked: { decisions: guard.decisions, ...(usage && { usage }) } };
  }

  async found<T>(conversationId: string, value: T): Promise<Given<T>> {
    return this.check(await this.conversations.policyOf(conversationId), value, undefined, 'tool_result');
  }

  async required<T>(policy: GuardrailPolicy | undefined, value: T): Promise<T> {
    const given = await this.check(policy, value);
    if (given.isBlocked) throw blockedInput(policy!);
    return given.value;
  }

  /** Records decisions that were made outside a run. A failure is logged and does not fail the accepted request. */
  async record(
    { decisions }: CheckedInput,
    about: Readonly<{ recordId: string; ownerId: string; agentId: string | null }>,
    cause: Cause,
  ): Promise<void> {
    const subject = { ...about, messageId: about.recordId, requestId: cause.correlationId };
    try {
      await this.commands.execute(new RecordGuardrailDecisions(subject, decisions, cause));
    } catch (error) {
      this.logger.error(`What guardrails found for turn ${about.recordId} could not be recorded.`, error);
    }
  }
}
