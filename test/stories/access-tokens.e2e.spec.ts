import { onPostgres } from '../support/backing.js';
import { accessTokensStory } from './access-tokens.story.js';

accessTokensStory(onPostgres);
