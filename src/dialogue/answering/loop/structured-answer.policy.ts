import { JSON_LIMITS, parseBoundedJson } from '../../../kernel/bounded-json.js';
import { Rejection } from '../../../kernel/rejection.js';
import { problemsWith } from '../../../resources/models/model/response-schema.policy.js';
import { hasObjectRoot, valueInObjectRoot } from '../../../resources/models/model/object-root.policy.js';

type Schema = Readonly<Record<string, unknown>>;

/** The JSON text of a valid answer, or the problem with the model's text. */
export type StructuredAnswer = Readonly<{ answer: string } | { problem: string }>;

/** Reads a structured answer: JSON that is valid against the agent's schema, also inside a Markdown code fence. */
export function structuredAnswer(text: string, schema: Schema): StructuredAnswer {
  const read = readJson(text);
  if ('problem' in read) return read;
  if (!hasObjectRoot(schema)) {
    const wrapped = valueInObjectRoot(read.value);
    if (wrapped) {
      const problems = problemsWith(wrapped.value, schema);
      return problems.length === 0 ? { answer: JSON.stringify(wrapped.value) } : { problem: inOneLine(problems) };
    }
  }
  const problems = problemsWith(read.value, schema);
  return problems.length === 0 ? { answer: read.json } : { problem: inOneLine(problems) };
}

const inOneLine = (problems: readonly string[]): string => problems.join('; ');

/** An answer has a maximum length, so only its nesting is limited. */
const LIMITS = { ...JSON_LIMITS, entriesMax: Infinity };

type Json = Readonly<{ json: string; value: unknown }>;

/** Some models put the JSON into a Markdown code fence with text around it, whatever the instruction says. */
function readJson(text: string): Json | Readonly<{ problem: string }> {
  const whole = parsed(text.trim());
  if (!('problem' in whole)) return whole;
  const fenced = parsed(insideFence(text));
  return 'problem' in fenced ? whole : fenced;
}

function parsed(json: string): Json | Readonly<{ problem: string }> {
  try {
    return { json, value: parseBoundedJson(json, 'It', LIMITS) };
  } catch (error) {
    if (error instanceof Rejection) return { problem: error.message };
    return { problem: `It is not valid JSON: ${(error as Error).message}` };
  }
}

const FENCE = '```';
const LANGUAGE = /^json\b/i;

/** The text between the first and the last fence; empty if there are not two fences. */
function insideFence(text: string): string {
  const start = text.indexOf(FENCE);
  const end = text.lastIndexOf(FENCE);
  return start === end
    ? ''
    : text
        .slice(start + FENCE.length, end)
        .replace(LANGUAGE, '')
        .trim();
}
