import { TemplateFailed } from './template-engine.port.js';

export const tooManyTemplates = (): TemplateFailed =>
  new TemplateFailed('busy', 'Too many prompt templates are being rendered right now. Please try again.');

export const needsTooMuchMemory = (): TemplateFailed =>
  new TemplateFailed('too-large', 'The prompt template needs too much memory.');
