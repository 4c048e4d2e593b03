import { onEventStoreDbAndNats } from '../support/backing.js';
import { examplesStory } from './examples.story.js';

examplesStory(onEventStoreDbAndNats, ['curl', 'python']);
