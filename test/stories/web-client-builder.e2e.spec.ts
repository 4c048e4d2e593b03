import { onPostgres } from '../support/backing.js';
import { webClientBuilderStory } from './web-client-builder.story.js';

webClientBuilderStory(onPostgres);
