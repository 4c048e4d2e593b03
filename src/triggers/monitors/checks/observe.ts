import {
  canonical,
  type Content,
  CONTENT_CHARACTERS_MAX,
  gistOf,
  hashOf,
  itemHash,
  numberIn,
  Unfit,
  valueAt,
} from '../monitor/content.policy.js';
import type { MonitorCheck, Seen, ThresholdOperator } from '../monitor/monitor.events.js';
import { type Patterns, PatternTooSlow } from '../patterns/patterns.port.js';

/** Maximum number of items per check, and of remembered items of earlier checks. */
export const ITEMS_MAX = 500;
const ITEMS_LISTED_MAX = 10;
const EXCERPT_CHARACTERS_MAX = 2000;

/**
 * The result of comparing a source with its earlier state. `fires`: what the check looks for holds now and did not hold before.
 * `report` is the text for the follow-up.
 */
export type Observation = Readonly<{ seen: Seen; fires: boolean; report: string }>;

type Of<Type extends MonitorCheck['type']> = Extract<MonitorCheck, { type: Type }>;

/**
 * Compares the content with the earlier state. Without `before`, the result is the baseline for later checks and never fires.
 * @throws Unfit
 */
export function observe(
  check: MonitorCheck,
  content: Content,
  before: Seen | undefined,
  patterns: Patterns,
): Observation | Promise<Observation> {
  switch (check.type) {
    case 'changed':
      return changed(content, before);
    case 'new_items':
      return newItems(check, content, before);
    case 'regex':
      return regex(check, content, before, patterns);
    case 'threshold':
      return threshold(check, content, before);
    case 'status':
      return status(check, content, before);
  }
}

function changed(content: Content, before: Seen | undefined): Observation {
  const hash = hashOf(content.text);
  const excerpt = content.text.trim().slice(0, EXCERPT_CHARACTERS_MAX).toWellFormed();
  const seen = { hash, items: [], holds: false, gist: gistOf(content.text) };
  return { seen, fires: before !== undefined && before.hash !== hash, report: `It now reads:\n${excerpt}` };
}

type Item = Readonly<{ id: string; text: string }>;

function newItems({ itemsPath, idField }: Of<'new_items'>, content: Content, before: Seen | undefined): Observation {
  const { items, count } = itemsIn(content, itemsPath, idField);
  const { fresh, remembered } = freshAmong(items, before);
  // Later items are never new, which the owner has to know.
  const unwatched = count > ITEMS_MAX ? `, of which only the first ${ITEMS_MAX} are watched` : '';
  const seen = { hash: hashOf(content.text), items: remembered, holds: false, gist: `${count} items${unwatched}` };
  return { seen, fires: before !== undefined && fresh.length > 0, report: listed('New items', fresh) };
}

/** The items that were not there before. Items that have disappeared are remembered while there is room. */
function freshAmong(items: readonly Item[], before: Seen | undefined) {
  const known = new Set(before?.items ?? []);
  const ids = new Map(items.map((item) => [itemHash(item.id), item]));
  const fresh = [...ids].filter(([id]) => !known.has(id)).map(([, item]) => item);
  const remembered = [...ids.keys(), ...[...known].filter((id) => !ids.has(id))].slice(0, ITEMS_MAX);
  return { fresh, remembered };
}

const listed = (what: string, items: readonly Item[]): string => {
  const told = items.slice(0, ITEMS_LISTED_MAX).map(({ text }) => `- ${gistOf(text)}`);
  const more = items.length > ITEMS_LISTED_MAX ? [`- and ${items.length - ITEMS_LISTED_MAX} more`] : [];
  return [`${what}:`, ...told, ...more].join('\n');
};

/** The fields that identify an item if the check names none; the first one that the item has is used. */
const ID_FIELDS = ['id', 'key', 'guid', 'url', 'link', 'name', 'title'];

/** The watched items, and the number of all. */
function itemsIn({ text, json }: Content, itemsPath: string | null, idField: string | null) {
  const list = itemsPath === null ? json : valueAt(json, itemsPath);
  if (Array.isArray(list)) return { items: list.slice(0, ITEMS_MAX).map((item) => itemOf(item, idField)), count: list.length };
  if (itemsPath !== null || json !== undefined) throw new Unfit('There is no list where the check looks for one.');
  const lines = text.split('\n').map((line) => line.trim());
  const items = lines.filter((line) => line !== '');
  return { items: items.slice(0, ITEMS_MAX).map((line) => ({ id: line, text: line })), count: items.length };
}

function itemOf(item: unknown, idField: string | null): Item {
  const fields = idField === null ? ID_FIELDS : [idField];
  const id = fields.map((field) => valueAt(item, field)).find((value) => typeof value === 'string' || typeof value === 'number');
  if (id === undefined && idField !== null) throw new Unfit(`An item has no \`${idField}\`.`);
  const whole = canonical(item, CONTENT_CHARACTERS_MAX);
  return { id: id === undefined ? whole : String(id), text: typeof item === 'string' ? item : whole };
}

async function regex(check: Of<'regex'>, content: Content, before: Seen | undefined, patterns: Patterns): Promise<Observation> {
  const found = await patterns.matches(check.pattern, content.text, ITEMS_MAX).catch((error: unknown) => {
    throw error instanceof PatternTooSlow ? new PatternTooSlow('The pattern takes too long on this text.') : error;
  });
  const { fresh, remembered } = freshAmong(
    found.map((text) => ({ id: text, text })),
    before,
  );
  const holds = check.when === 'match' ? found.length > 0 : found.length === 0;
  const gist = found[0] === undefined ? 'no match' : gistOf(found[0]);
  const seen = { hash: hashOf(content.text), items: check.when === 'match' ? remembered : [], holds, gist };
  const fires = check.when === 'match' ? fresh.length > 0 : holds && before?.holds === false;
  return {
    seen,
    fires: before !== undefined && fires,
    report: check.when === 'match' ? listed('It now matches', fresh) : 'The pattern no longer matches anything.',
  };
}

const COMPARISONS: Readonly<Record<ThresholdOperator, (one: number, other: number) => boolean>> = {
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
  '==': (one, other) => one === other,
  '!=': (one, other) => one !== other,
};

function threshold({ valuePath, op, value }: Of<'threshold'>, content: Content, before: Seen | undefined): Observation {
  const number = numberIn(valuePath === null ? content.text : valueAt(content.json, valuePath));
  const holds = COMPARISONS[op](number, value);
  const seen = { hash: hashOf(String(number)), items: [], holds, gist: String(number) };
  return { seen, fires: before?.holds === false && holds, report: `The value is now ${number} (${op} ${value}).` };
}

function status({ valuePath, terminal }: Of<'status'>, content: Content, before: Seen | undefined): Observation {
  const value = valuePath === null ? content.text.trim() : valueAt(content.json, valuePath);
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw new Unfit('There is no state where the check looks for one.');
  }
  const state = gistOf(String(value));
  const key = hashOf(content.key ?? state);
  const holds = terminal.some((each) => each.toLowerCase() === state.toLowerCase());
  const isAnother = before?.holds === false || before?.hash !== key;
  return {
    seen: { hash: key, items: [], holds, gist: state },
    fires: before !== undefined && holds && isAnother,
    report: `Its state is now: ${state}${content.key === undefined ? '' : `\n${gistOf(content.text, EXCERPT_CHARACTERS_MAX)}`}`,
  };
}
