import { onPostgres } from '../support/backing.js';
import { forgottenBackgroundStory } from './forgotten-background.story.js';

forgottenBackgroundStory(onPostgres);
