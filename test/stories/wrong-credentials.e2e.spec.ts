import { onPostgres } from '../support/backing.js';
import { wrongCredentialsStory } from './wrong-credentials.story.js';

wrongCredentialsStory(onPostgres);
