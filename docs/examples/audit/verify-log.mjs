// Verifies an export of the audit log against the seals in it. The export of an administrator has all events.
// It prints the newest seal: keep it outside the service.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { parseArgs } from 'node:util';

const USAGE = `Usage: node verify-log.mjs export.ndjson [number:sha256] [--strict]

  number:sha256  the newest seal that an earlier run has printed
  --strict       also demands that a seal covers every event

Exit codes:
  0  no sealed event was changed, added or removed; the newest events may have no seal yet
  1  something was changed, added or removed, or the export has no seals
  2  wrong arguments, or the file cannot be read
  3  --strict: as 0, but the newest events have no seal yet`;
const EXIT = { same: 0, changed: 1, failed: 2, uncovered: 3 };

const SEALS = 'logSeals-log';
/** Types whose event removes all earlier events of its stream, as do those that end with "Purged". */
const ENDS = new Set(['ArtifactDeleted', 'ResponseDeleted', 'ResponseExpired']);

const { file, kept, isStrict } = askedFor();

function askedFor() {
  try {
    const options = { strict: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) end(EXIT.same, console.log, USAGE);
    const [file, kept] = positionals;
    const isRight = positionals.length === 1 || (positionals.length === 2 && /^\d+:[0-9a-f]{64}$/.test(kept));
    return isRight ? { file, kept, isStrict: values.strict } : end(EXIT.failed, console.error, USAGE);
  } catch ({ message }) {
    return end(EXIT.failed, console.error, `${message}\n${USAGE}`);
  }
}

function end(code, print, text) {
  print(text);
  process.exit(code);
}

const problems = [];
const problem = (text) => problems.push(text);
/** The hash and the position of each event that no seal has listed yet, by its place (stream@revision). */
const unsealed = new Map();
/** The places of sealed events that are not in the export. A purge that follows must explain each. */
const missing = new Set();
/** For each stream, the ranges of revisions that were purged, each without its end, and the position of the purge. */
const purgedRanges = new Map();
/** The position of the purge of a webhook's delivery, by the place of the delivery. One stream may have very many. */
const purgedDeliveries = new Map();
let sealed = 0;
/** The position of the line that is being read. */
let position = -1n;
let newest = { number: 0, upTo: '-1', sha256: undefined };

function notePurge({ type, stream, revision, data }) {
  if (type === 'FollowUpsExpired') purge(`followUps-${data.conversationId}`, data.from, data.before);
  else if (type.endsWith('Purged') || ENDS.has(type)) {
    purge(stream, 0, data.keptFrom ?? revision);
    if (data.delivery) purgedDeliveries.set(`${data.delivery.stream}@${data.delivery.revision}`, position);
  }
}

function purge(stream, from, before) {
  const ranges = purgedRanges.get(stream) ?? [];
  purgedRanges.set(stream, ranges);
  ranges.push({ from, before, position });
}

/** Whether a purge after a position of the log explains that the event at the place is gone. */
function isPurged(place, after) {
  if (purgedDeliveries.get(place) > after) return true;
  const at = place.lastIndexOf('@');
  const revision = Number(place.slice(at + 1));
  const ranges = purgedRanges.get(place.slice(0, at)) ?? [];
  return ranges.some((each) => each.position > after && each.from <= revision && revision < each.before);
}

function verifySeal({ number, after, upTo, events }) {
  if (number !== newest.number + 1) problem(`Seal ${number} follows seal ${newest.number}.`);
  if (after !== newest.upTo) problem(`Seal ${number} begins after ${after}, and seal ${newest.number} ends at ${newest.upTo}.`);
  for (const [stream, revision, sha256] of events) {
    const place = `${stream}@${revision}`;
    const line = unsealed.get(place);
    if (!line) missing.add(place);
    else if (line.sha256 !== sha256) problem(`${place} is not what seal ${number} was made of.`);
    unsealed.delete(place);
    sealed++;
  }
  const end = BigInt(upTo);
  for (const [place, { position }] of unsealed) {
    // The events are in the order of the log. Events that are not are problems already.
    if (position > end) break;
    // An event that was purged while the export was read, before it was sealed, may still be in the export.
    if (missing.has(place) || !isPurged(place, position)) problem(`${place} was added after seal ${number}.`);
    unsealed.delete(place);
  }
}

/** Lines end with \n alone. Node's readline also ends them at separators that JSON allows in a string. */
async function* linesOf(path) {
  let rest = '';
  const texts = createReadStream(path, 'utf8');
  texts.once('error', ({ message }) => end(EXIT.failed, console.error, `The export cannot be read: ${message}`));
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    yield* lines;
  }
  if (rest !== '') yield rest;
}

let lineNumber = 0;
for await (const line of linesOf(file)) {
  lineNumber++;
  let place;
  try {
    const event = JSON.parse(line);
    place = `${event.stream}@${event.revision}`;
    if (BigInt(event.position) <= position) problem(`${place} is not in the order of the log.`);
    position = BigInt(event.position);
    if (unsealed.has(place)) problem(`${place} occurs twice.`);
    const sha256 = createHash('sha256').update(line).digest('hex');
    unsealed.set(place, { sha256, position });
    notePurge(event);
    if (event.stream !== SEALS) continue;
    verifySeal(event.data);
    newest = { number: event.data.number, upTo: event.data.upTo, sha256, place };
    if (kept?.startsWith(`${newest.number}:`) && kept !== `${newest.number}:${sha256}`)
      problem(`Seal ${newest.number} is another.`);
  } catch ({ message }) {
    problem(`${place ?? 'The event'} in line ${lineNumber} cannot be read: ${message}`);
  }
}
let purged = 0;
for (const place of missing) {
  if (isPurged(place, -1n)) purged++;
  else problem(`${place} is missing, and no purge explains that.`);
}
if (kept && Number(kept.split(':')[0]) > newest.number) problem(`Seal ${kept.split(':')[0]} is missing.`);

if (newest.number === 0) problem('The export has no seal. Only an administrator exports all events.');

// The newest seal is listed only by the next one.
unsealed.delete(newest.place);
for (const text of problems) console.log(text);
console.log(`${sealed} events in ${newest.number} seals, ${purged} of them purged; ${unsealed.size} events without a seal yet.`);
if (problems.length > 0) console.log(`Problems: ${problems.length}.`);
else console.log(`No changed, added or removed event was found up to position ${newest.upTo}.`);
if (unsealed.size > 0) console.log('The events without a seal are not checked. Export the log again after the next seal.');
if (newest.number > 0) console.log(`Newest seal: ${newest.number}:${newest.sha256}`);
process.exitCode = problems.length > 0 ? EXIT.changed : isStrict && unsealed.size > 0 ? EXIT.uncovered : EXIT.same;
