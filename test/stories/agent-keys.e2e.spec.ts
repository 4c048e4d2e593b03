import { onPostgres } from '../support/backing.js';
import { agentKeysStory } from './agent-keys.story.js';

agentKeysStory(onPostgres);
