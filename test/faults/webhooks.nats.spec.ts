import { onEventStoreDbAndNats } from '../support/backing.js';
import { webhooksFaultStory } from './webhooks.story.js';

webhooksFaultStory(onEventStoreDbAndNats, 80);
