import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { ToolEvent } from './tool.events.js';

export const toolCodec: Codec<ToolEvent> = { ToolCreated: [], ToolChanged: [], ToolDeleted: [] };
