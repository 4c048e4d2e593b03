import { onPostgres } from '../support/backing.js';
import { examplesStory } from './examples.story.js';

// Needs nothing but Node. The others are in `examples.nats.spec.ts`, which runs where programs beside it are installed.
examplesStory(onPostgres, ['javascript']);
