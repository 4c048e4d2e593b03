import { onPostgres } from '../support/backing.js';
import { webClientSharingStory } from './web-client-sharing.story.js';

webClientSharingStory(onPostgres);
