import { onEventStoreDbAndNats } from '../support/backing.js';
import { devicesKillStory } from './devices.story.js';

devicesKillStory(onEventStoreDbAndNats);
