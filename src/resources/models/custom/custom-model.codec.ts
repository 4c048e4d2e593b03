import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { CustomModelEvent } from './custom-model.events.js';

export const customModelCodec: Codec<CustomModelEvent> = {
  CustomModelCreated: [],
  CustomModelChanged: [],
  CustomModelDeleted: [],
};
