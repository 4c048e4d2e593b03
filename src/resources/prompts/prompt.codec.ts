import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { PromptEvent } from './prompt.events.js';

export const promptCodec: Codec<PromptEvent> = { PromptCreated: [], PromptUpdated: [], PromptDeleted: [] };
