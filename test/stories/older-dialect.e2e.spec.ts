import { onPostgres } from '../support/backing.js';
import { olderDialectStory } from './older-dialect.story.js';

olderDialectStory(onPostgres);
