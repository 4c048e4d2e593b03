import { Injectable } from '@nestjs/common';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { InputChecks } from '../../../dialogue/answering/guardrails/input-checks.port.js';
import { WITHHELD } from '../../../resources/guardrails/guardrail.policy.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Timing } from '../../../kernel/timing.js';
import { withSignals } from '../../../kernel/with-signals.js';
import { ToolFailed } from '../../../resources/tools/toolbox/tool-kind.port.js';
import { Toolbox } from '../../../resources/tools/toolbox/toolbox.port.js';
import { PageFailed, WebPages } from '../../../resources/tools/web/web-pages.port.js';
import { type Content, contentOfJson, contentOfText } from '../monitor/content.policy.js';
import type { MonitorSource } from '../monitor/monitor.events.js';
import { filledIn, type Placeholders } from '../monitor/placeholders.policy.js';

/** Maximum time for reading a source. */
export const CHECK_MS_MAX = 30_000;

/**
 * A source could not be read: temporarily (`unreachable`), because of its content or an error (`failed`), or permanently
 * (`gone`). The message is shown to people and models.
 */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
  constructor(
    readonly outcome: 'unreachable' | 'failed' | 'gone',
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The owner and the check for which a source is read. */
export type CheckContext = Readonly<{
  monitorId: string;
  check: number;
  ownerId: string;
  agentId: string | null;
  conversationId: string;
  times: Placeholders;
  cause: Cause;
  signal: AbortSignal;
}>;

type Of<Type extends MonitorSource['type']> = Extract<MonitorSource, { type: Type }>;

/** Reads the sources of monitors with the rights and credentials of their owners. */
@Injectable()
export class WatchedSources {
  constructor(
    private readonly pages: WebPages,
    private readonly toolbox: Toolbox,
    private readonly sources: SourceQueries,
    private readonly timing: Timing,
    private readonly inputs: InputChecks,
  ) {}

  /** @throws CheckFailed */
  async fetch(source: MonitorSource, context: CheckContext): Promise<Content> {
    const patience = this.timing.deadline(CHECK_MS_MAX);
    try {
      const content = await withSignals([context.signal, patience], (signal) => this.contentOf(source, context, signal));
      return await this.checked(content, context);
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof CheckFailed) throw await this.checkedFailure(error, context);
      if (!patience.aborted) throw error;
      throw new CheckFailed('unreachable', `It did not answer within ${CHECK_MS_MAX / 1000} seconds.`, { cause: error });
    }
  }

  /** Applies the guardrails of the conversation to the content. Only the result is compared, reported and stored. @throws CheckFailed */
  private async checked(content: Content, { conversationId }: CheckContext): Promise<Content> {
    const found = content.json === undefined ? content.text : content.json;
    const given = await this.inputs.found(conversationId, found);
    if (given.isBlocked) throw new CheckFailed('failed', 'What was found was withheld by a content policy.');
    if (given.value === found) return content;
    const masked = content.json === undefined ? contentOfText(given.value as string) : contentOfJson(given.value);
    return { ...masked, ...(content.key !== undefined && { key: content.key }) };
  }

  /** Applies the guardrails to an error message too, because it may contain text of a tool or page. */
  private async checkedFailure(failure: CheckFailed, { conversationId }: CheckContext): Promise<CheckFailed> {
    const given = await this.inputs.found(conversationId, failure.message);
    if (!given.isBlocked && given.value === failure.message) return failure;
    return new CheckFailed(failure.outcome, given.isBlocked ? WITHHELD : given.value);
  }

  private contentOf(source: MonitorSource, context: CheckContext, signal: AbortSignal): Promise<Content> {
    switch (source.type) {
      case 'webpage':
        return this.page(source, signal);
      case 'tool':
        return this.call(source, context, signal);
      case 'ingest':
        return this.ingestion(source, context);
    }
  }

  private async page({ url }: Of<'webpage'>, signal: AbortSignal): Promise<Content> {
    try {
      return contentOfText((await this.pages.read(new URL(url), signal)).text);
    } catch (error) {
      if (!(error instanceof PageFailed)) throw error;
      throw new CheckFailed(error.mayPass ? 'unreachable' : 'failed', error.message, { cause: error });
    }
  }

  private async call(source: Of<'tool'>, context: CheckContext, signal: AbortSignal): Promise<Content> {
    const { ownerId, agentId, conversationId, monitorId, check, cause } = context;
    const pins = await this.toolbox.pin(ownerId, [source.toolId]);
    const scope = { pins, ownerId, agentId, agentType: 'classic', hasSources: false };
    const tools = await this.toolbox.open(scope);
    const action = tools.actions.find(({ toolId, actionName }) => toolId === source.toolId && actionName === source.actionName);
    if (!action) throw new CheckFailed('gone', `The tool ${source.name} was deleted or disabled.`);
    if (action.access !== 'read' || action.requiresApproval) {
      throw new CheckFailed('gone', `${source.actionName} of ${source.name} needs an approval or may change something.`);
    }
    const args = filledIn(source.arguments, context.times) as Readonly<Record<string, unknown>>;
    const callId = `${monitorId}:${check}`;
    const about = { callId, userId: ownerId, agentId, conversationId, turnId: monitorId, sources: [], cause, signal };
    const result = await tools.run(action, args, about).catch((error: unknown) => {
      throw error instanceof ToolFailed ? new CheckFailed('unreachable', error.message, { cause: error }) : error;
    });
    if (saysError(result)) throw new CheckFailed('failed', `${source.actionName} of ${source.name} answered with an error.`);
    return contentOfJson(result);
  }

  private async ingestion({ sourceId, name }: Of<'ingest'>, { ownerId }: CheckContext): Promise<Content> {
    const source = await this.sources.byId(sourceId);
    if (source?.ownerId !== ownerId) throw new CheckFailed('gone', `The source ${name} is gone.`);
    const { ingestStatus: status, ingestReason: reason, chunks, tokens, ingestId } = source;
    return { ...contentOfJson({ name: source.name, status, reason, chunks, tokens }), key: `${ingestId} ${status}` };
  }
}

/** Whether the result of a tool reports an error, in one of the two forms that tools use. */
const saysError = (result: unknown): boolean =>
  typeof result === 'object' &&
  result !== null &&
  (('status' in result && result.status === 'error') || ('error' in result && Boolean(result.error)));
