import { onPostgres } from '../support/backing.js';
import { examplesStory } from './examples.story.js';

// Needs only Node. The others are in `examples.nats.spec.ts`, which runs where their programs are installed.
examplesStory(onPostgres, ['javascript']);
