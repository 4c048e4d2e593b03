import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { MemoryEvent } from './memory.events.js';

export const memoryCodec: Codec<MemoryEvent> = {
  MemoryStarted: [],
  MemoryFileWritten: [],
  MemoryFileEdited: [],
  MemoryPathDeleted: [],
  MemoryPathRenamed: [],
};
