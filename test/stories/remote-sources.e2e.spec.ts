import { onPostgres } from '../support/backing.js';
import { remoteSourcesStory } from './remote-sources.story.js';

remoteSourcesStory(onPostgres);
