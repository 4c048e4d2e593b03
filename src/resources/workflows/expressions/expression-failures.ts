import { ExpressionFailed } from './expressions.port.js';

export const tooManyExpressions = (): ExpressionFailed =>
  new ExpressionFailed('busy', 'Too many expressions are being evaluated right now. Please try again.');

export const needsTooMuchMemory = (): ExpressionFailed =>
  new ExpressionFailed('too-large', 'The expression needs too much memory.');
