import { onPostgres } from '../support/backing.js';
import { storedFilesStory } from './stored-files.story.js';

storedFilesStory(onPostgres);
