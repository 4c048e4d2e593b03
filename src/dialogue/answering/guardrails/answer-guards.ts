import { Injectable, Logger } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { RecordGuardrailDecisions } from '../../../resources/guardrails/guardrail-record.commands.js';
import { Guardrails } from '../../../resources/guardrails/guardrails.port.js';
import type { Run } from '../loop/agent-loop.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import type { Transcript } from '../loop/transcript.js';
import { blockOf } from '../loop/guardrail-block.js';
import { GuardedAnswer } from './guarded-answer.js';
import { TurnGuard } from '../loop/turn-guard.js';

type Compose = (transcript: Transcript, run: Run) => AsyncGenerator<AnswerDelta>;

/** Guards answers by the policies that are pinned for their turns. */
@Injectable()
export class AnswerGuards {
  private readonly logger = new Logger(AnswerGuards.name);

  constructor(
    private readonly guardrails: Guardrails,
    private readonly commands: Commands,
  ) {}

  /** The composed answer, guarded if its turn has a policy. Without a policy it is passed through unchanged. */
  guarded(transcript: Transcript, run: Run, compose: Compose): AsyncGenerator<AnswerDelta> {
    const { settings, checked } = transcript.asked;
    return settings.guardrails || checked ? this.guard(transcript, run, compose) : compose(transcript, run);
  }

  /** @throws GuardrailBlock */
  private async *guard(transcript: Transcript, run: Run, compose: Compose): AsyncGenerator<AnswerDelta> {
    const { asked, resumption } = transcript;
    const { settings, checked } = asked;
    const guard = settings.guardrails && new TurnGuard(this.guardrails, settings.guardrails, run.signal);
    try {
      // The usage until a pause was counted with the pause.
      const checkUsage = resumption ? resumption.checkUsage : checked?.usage;
      if (checkUsage) yield { type: 'usage', ...checkUsage };
      if (checked?.blockMessage !== undefined) throw blockOf({ blockMessage: checked.blockMessage }, 'input', checked.decisions);
      if (guard)
        yield* new GuardedAnswer(guard, contextOf(transcript, run)).through(
          compose(await this.withInput(transcript, guard), { ...run, guard }),
        );
      else yield* compose(transcript, run);
    } catch (error) {
      const usage = guard?.takeUsage();
      if (usage) yield { type: 'usage', ...usage };
      throw error;
    } finally {
      await this.record(transcript, decisionsOfBoth(checked?.decisions ?? [], guard?.decisions ?? []));
    }
  }

  /**
   * Checks the input of a headless run, which may have been accepted under another policy than the current one. The question of a
   * conversation was already checked when it was accepted.
   * @throws GuardrailBlock
   */
  private async withInput(transcript: Transcript, guard: TurnGuard): Promise<Transcript> {
    const { asked, folded } = transcript;
    if (folded) return transcript;
    return { ...transcript, asked: { ...asked, question: await guard.text('input', asked.question) } };
  }

  /** Records all decisions of a run at once. A failure is logged and does not fail the answer. */
  private async record(
    { ownerId, asked: { turnId, settings, requestId }, folded, cause }: Transcript,
    decisions: TurnGuard['decisions'],
  ): Promise<void> {
    if (decisions.length === 0) return;
    // A headless run has no message.
    const messageId = folded ? turnId : null;
    const subject = { recordId: turnId, ownerId, agentId: settings.agentId, messageId, requestId };
    try {
      await this.commands.execute(new RecordGuardrailDecisions(subject, decisions, cause));
    } catch (error) {
      this.logger.error(`What guardrails found in turn ${turnId} could not be recorded.`, error);
    }
  }
}

/** The decisions on acceptance and of the run. The run finds again in its input what was only flagged on acceptance. */
function decisionsOfBoth(accepted: TurnGuard['decisions'], ofRun: TurnGuard['decisions']): TurnGuard['decisions'] {
  const isFoundAgain = ({ stage, check, action }: TurnGuard['decisions'][number]) =>
    stage === 'input' && action === 'flag' && ofRun.some((other) => other.stage === stage && other.check === check);
  return [...accepted.filter((decision) => !isFoundAgain(decision)), ...ofRun];
}

function contextOf({ asked, resumption }: Transcript, { shown }: Run) {
  const { answer = '', thought = '', openMatches = {} } = resumption?.paused ?? {};
  const before = { answer, thought, openMatches: { ...openMatches } };
  for (const frame of shown) {
    if (frame.type === 'answer') before.answer += frame.answer;
    else if (frame.type === 'thought') before.thought += frame.thought;
    else continue;
    // Text was shown since, so the match has ended.
    delete before.openMatches[frame.type];
  }
  return { question: asked.question, schema: asked.settings.responseSchema, before };
}
