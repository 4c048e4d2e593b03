import type { Source } from '../../conversation/conversation.events.js';
import type { ResearchPlan } from '../../journal/message.events.js';
import { SOURCES_BYTES_MAX } from '../loop/messages.policy.js';

/** Maximum number of steps, by the complexity of the question. */
const STEPS_MAX = { simple: 2, moderate: 4, complex: 6 } as const satisfies Readonly<Record<ResearchPlan['complexity'], number>>;
/** Maximum number of rounds of model and tools in one step. */
export const STEP_ROUNDS_MAX = 5;
/** No further step begins after this time. Pauses do not count. */
export const RESEARCH_MS_MAX = 300_000;
/** No further step begins after the models have used this many tokens. */
export const RESEARCH_TOKENS_MAX = 100_000;
const QUERY_CHARACTERS_MAX = 500;
const RATIONALE_CHARACTERS_MAX = 1_000;
const CLARIFICATION_CHARACTERS_MAX = 4_000;

export const CLARIFICATION_SCHEMA = {
  type: 'object',
  properties: { needs_clarification: { type: 'boolean' }, question: { type: 'string' } },
  required: ['needs_clarification', 'question'],
  additionalProperties: false,
} as const;

export const PLAN_SCHEMA = {
  type: 'object',
  properties: {
    complexity: { type: 'string', enum: Object.keys(STEPS_MAX) },
    steps: {
      type: 'array',
      items: {
        type: 'object',
        properties: { query: { type: 'string' }, rationale: { type: 'string' } },
        required: ['query', 'rationale'],
        additionalProperties: false,
      },
    },
  },
  required: ['complexity', 'steps'],
  additionalProperties: false,
} as const;

/** The model's question to the user; undefined if it needs no clarification or its answer is not readable. */
export function clarificationIn(text: string): string | undefined {
  const { needs_clarification: isNeeded, question } = objectIn(text) ?? {};
  if (isNeeded !== true || typeof question !== 'string') return undefined;
  return question.trim().slice(0, CLARIFICATION_CHARACTERS_MAX).toWellFormed() || undefined;
}

/** Reads the plan in a model's text and limits its steps. Without a valid step, the question itself is the only step. */
export function planIn(text: string, question: string): ResearchPlan {
  const { complexity: said, steps: given } = objectIn(text) ?? {};
  const queries = new Set<string>();
  const steps = (Array.isArray(given) ? (given as readonly unknown[]) : []).flatMap((each) => {
    const { query, rationale } = isObject(each) ? each : {};
    const cut = typeof query === 'string' ? line(query, QUERY_CHARACTERS_MAX) : '';
    if (cut === '' || queries.has(cut)) return [];
    queries.add(cut);
    return [{ query: cut, rationale: typeof rationale === 'string' ? line(rationale, RATIONALE_CHARACTERS_MAX) : '' }];
  });
  if (steps.length === 0) return directPlan(question);
  const complexity = typeof said === 'string' && isComplexity(said) ? said : complexityOf(steps.length);
  return { steps: steps.slice(0, STEPS_MAX[complexity]), complexity };
}

/** The plan with the question as its only step. */
export const directPlan = (question: string): ResearchPlan => ({
  steps: [{ query: line(question, QUERY_CHARACTERS_MAX), rationale: 'Direct investigation' }],
  complexity: 'simple',
});

const line = (text: string, charactersMax: number): string =>
  text.replace(/\s+/g, ' ').trim().slice(0, charactersMax).toWellFormed();

const isComplexity = (text: string): text is ResearchPlan['complexity'] => Object.hasOwn(STEPS_MAX, text);

function complexityOf(steps: number): ResearchPlan['complexity'] {
  if (steps <= STEPS_MAX.simple) return 'simple';
  return steps <= STEPS_MAX.moderate ? 'moderate' : 'complex';
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;

/** The JSON object in a text, because some models write text around it. */
function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const [start, end] = [text.indexOf('{'), text.lastIndexOf('}')];
  if (start === -1 || end < start) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The first passage of each pair of source and title, as many as fit one frame. */
export function distinctSources(found: readonly Source[]): readonly Source[] {
  const first = new Map<string, Source>();
  for (const source of found) {
    const name = JSON.stringify([source.source, source.title]);
    if (!first.has(name)) first.set(name, source);
  }
  let left = SOURCES_BYTES_MAX - '[]'.length;
  return [...first.values()].filter((source) => {
    const bytes = Buffer.byteLength(JSON.stringify(source)) + ','.length;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}
