import { Injectable } from '@nestjs/common';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { eventsBackwards } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../kernel/rejection.js';
import type { GuardrailPolicy, GuardrailStage } from '../../resources/guardrails/guardrail.policy.js';
import { Guardrails } from '../../resources/guardrails/guardrails.port.js';
import { conversationCodec } from './conversation.codec.js';
import { type ConversationEvent, conversationStream } from './conversation.events.js';

/** Checks the names of conversations by the guardrail policy that is pinned in the newest question. */
@Injectable()
export class ConversationGuard {
  constructor(
    private readonly streams: Streams,
    private readonly guardrails: Guardrails,
  ) {}

  async policyOf(conversationId: string): Promise<GuardrailPolicy | undefined> {
    for await (const stored of eventsBackwards(this.streams.store, conversationStream(conversationId))) {
      const event = decode<ConversationEvent>(conversationCodec, stored);
      if (event?.type === 'TurnAsked') return event.data.settings.guardrails;
    }
    return undefined;
  }

  /** Checks and masks a name. @throws Rejection guardrail-blocked */
  async name(conversationId: string, name: string): Promise<string> {
    const policy = await this.policyOf(conversationId);
    const checked = policy ? await this.nameBy(policy, 'input', name) : name;
    if (checked === undefined) throw blockedInput(policy!);
    return checked;
  }

  /** Checks and masks a name; undefined if it is blocked. */
  async nameBy(policy: GuardrailPolicy, stage: GuardrailStage, name: string): Promise<string | undefined> {
    const { verdict, text } = await this.guardrails.scan(policy, stage, name, {}, new AbortController().signal);
    return verdict === 'block' ? undefined : text;
  }
}

/** The rejection of a blocked text. Nothing of the text is stored. */
export const blockedInput = ({ blockMessage }: Pick<GuardrailPolicy, 'blockMessage'>): Rejection =>
  new Rejection('guardrail-blocked', blockMessage, { code: 'guardrail' });
