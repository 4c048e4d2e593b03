import { Injectable } from '@nestjs/common';
import { BEGINNING_EVENTS_MAX } from '../conversation/conversation-access.policy.js';
import { ConversationGuard } from '../conversation/conversation-guard.js';
import { conversationCodec } from '../conversation/conversation.codec.js';
import { conversation } from '../conversation/conversation.decider.js';
import { EntitleConversation } from '../conversation/conversation.commands.js';
import { type ConversationEvent, conversationStream, type TurnAsked } from '../conversation/conversation.events.js';
import { cutText } from '../../kernel/cut-text.js';
import { type Codec, decode } from '../../kernel/event-sourcing/codec.js';
import { isAtLeast, Streams } from '../../kernel/event-sourcing/streams.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { Commands } from '../../kernel/commands.js';
import { Timing } from '../../kernel/timing.js';
import { withSignals } from '../../kernel/with-signals.js';
import { withoutTrailing } from '../../kernel/trailing.js';
import { LanguageModels, ModelFailed, type ModelRequest } from '../../resources/models/model/language-model.port.js';
import { AnsweringOptions } from './loop/answering-options.js';

const TITLE_CHARACTERS_MAX = 80;
const TITLE_TOKENS_MAX = 40;
const TITLE_TIMEOUT_MS = 30_000;
/** High, because a title mostly waits for its model. */
const TITLES_AT_ONCE_MAX = 16;
const EXCERPT_CHARACTERS = 2_000;
const BUILT_IN_PROVIDER = 'verbatim';
const INSTRUCTION =
  'Give the conversation below a title of at most three words, in its own language. Answer with the title alone, without quotes or a full stop.';

/**
 * Names a listed conversation after its first answer. Steps: (1) check that the conversation exists and has no name; (2) ask a model;
 * (3) append the name. After a crash following (1) or (2) the model is asked again; the name is appended once. The built-in model writes
 * no titles, so with it a conversation keeps the name of its first question.
 */
@Injectable()
export class TitleConversation implements Reaction<ConversationEvent> {
  readonly name = 'title-conversation';
  readonly categories = ['conversation'];
  readonly codec: Codec<ConversationEvent> = conversationCodec;
  readonly begins = 'now';
  readonly concurrency = TITLES_AT_ONCE_MAX;
  readonly on: Reaction<ConversationEvent>['on'] = {
    TurnAnswered: (event, signal) => this.entitle(event, signal),
  };

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly models: LanguageModels,
    private readonly timing: Timing,
    private readonly options: AnsweringOptions,
    private readonly guard: ConversationGuard,
  ) {}

  private async entitle(
    event: Recorded<Extract<ConversationEvent, { type: 'TurnAnswered' }>>,
    signal: AbortSignal,
  ): Promise<void> {
    const { conversationId, turnId, answer, modelId } = event.data;
    // The visibility of a conversation never changes after its first event, so an older state of an unlisted one is enough.
    const { state } = await this.streams.foldSuch(
      conversationStream(conversationId),
      conversation,
      (known) => known.state.visibility !== 'listed' || isAtLeast(known.revision, event.revision),
    );
    if (state.status !== 'open' || state.visibility !== 'listed' || state.namedBy !== 'nobody') return;
    const first = await this.firstQuestion(conversationId);
    if (first?.turnId !== turnId) return;
    const titleModelId = this.options.settings.titleModelId ?? modelId;
    const ownerId = first.settings.configurationOwnerId;
    const model = await this.models.describe(titleModelId, ownerId);
    if (!model || model.provider === BUILT_IN_PROVIDER) return;
    const found = await this.ask({ modelId: titleModelId, ownerId }, first.question, answer, signal);
    const { guardrails } = first.settings;
    const title = guardrails ? await this.guard.nameBy(guardrails, 'output', found) : found;
    if (!title) return;
    await this.commands.execute(new EntitleConversation(conversationId, title, causedBy(event, `system:${this.name}`)));
  }

  /** The first question of the conversation, which is among its first events. */
  private async firstQuestion(conversationId: string): Promise<TurnAsked['data'] | undefined> {
    for await (const page of this.streams.store.read(conversationStream(conversationId), { limit: BEGINNING_EVENTS_MAX })) {
      for (const stored of page) {
        const event = decode<ConversationEvent>(conversationCodec, stored);
        if (event?.type === 'TurnAsked') return event.data;
      }
    }
    return undefined;
  }

  private async ask(
    model: Pick<ModelRequest, 'modelId' | 'ownerId'>,
    question: string,
    answer: string,
    signal: AbortSignal,
  ): Promise<string> {
    const content = `Question: ${cutText(question, EXCERPT_CHARACTERS)}\n\nAnswer: ${cutText(answer, EXCERPT_CHARACTERS)}`;
    const messages = [
      { role: 'system', content: INSTRUCTION },
      { role: 'user', content },
    ] as const;
    const request = { ...model, messages, question: INSTRUCTION, documents: [], maxTokens: TITLE_TOKENS_MAX };
    let title = '';
    try {
      await withSignals([signal, this.timing.deadline(TITLE_TIMEOUT_MS)], async (patience) => {
        for await (const chunk of this.models.stream(request, patience)) {
          if (chunk.type === 'text') title += chunk.text;
        }
      });
    } catch (error) {
      // Without a title the conversation keeps the name of its question, so a failed model is not asked again.
      if (!(error instanceof ModelFailed)) throw error;
      title = '';
    }
    signal.throwIfAborted();
    const [line = ''] = title.trim().split('\n');
    return cutText(withoutTrailing(line.replace(/^["'“”]+/, ''), `"'“”.`), TITLE_CHARACTERS_MAX).trim();
  }
}
