import { onPostgres } from '../support/backing.js';
import { userBacklogStory } from './user-backlog.story.js';

userBacklogStory(onPostgres);
