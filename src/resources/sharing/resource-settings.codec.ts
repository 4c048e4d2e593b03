import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { ResourceSettingsChanged } from './resource-settings.events.js';

export const resourceSettingsCodec: Codec<ResourceSettingsChanged> = { ResourceSettingsChanged: [] };
