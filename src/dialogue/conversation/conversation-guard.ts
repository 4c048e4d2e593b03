import { Injectable } from '@nestjs/common';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { eventsBackwards } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../kernel/rejection.js';
import type { GuardrailPolicy, GuardrailStage } from '../../resources/guardrails/guardrail.policy.js';
import { Guardrails } from '../../resources/guardrails/guardrails.port.js';
import { conversationCodec } from './conversation.codec.js';
import { type ConversationEvent, conversationStream } from './conversation.events.js';

/** Checks texts beside the turns of a conversation, by the policy that is pinned in its newest question. */
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

  /** A name as it may be stored. @throws Rejection guardrail-blocked */
  async name(conversationId: string, name: string): Promise<string> {
    const policy = await this.policyOf(conversationId);
    const checked = policy ? await this.nameBy(policy, 'input', name) : name;
    if (checked === undefined) throw blockedInput(policy!);
    return checked;
  }

  /** A name as it may be stored; undefined where it is blocked. */
  async nameBy(policy: GuardrailPolicy, stage: GuardrailStage, name: string): Promise<string | undefined> {
    const { verdict, text } = await this.guardrails.scan(policy, stage, name, {}, new AbortController().signal);
    return verdict === 'block' ? undefined : text;
  }
}

/** A text that is refused as it is given, and of which nothing is stored. */
export const blockedInput = ({ blockMessage }: Pick<GuardrailPolicy, 'blockMessage'>): Rejection =>
  new Rejection('guardrail-blocked', blockMessage, { code: 'guardrail' });
