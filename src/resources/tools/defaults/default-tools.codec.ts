import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { DefaultToolsEvent } from './default-tools.events.js';

export const defaultToolsCodec: Codec<DefaultToolsEvent> = { DefaultToolSwitchedOff: [], DefaultToolSwitchedOn: [] };
