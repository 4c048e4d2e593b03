const Sequencer = require('@jest/test-sequencer').default;

const KINDS = ['fault', 'nats', 'browser', 'e2e', 'simulation', 'oracle', 'int', 'unit'];
/** Suites that take minutes, the longest first. */
const LONGEST = [
  'test/faults/kill.',
  'test/faults/schedules.',
  'test/faults/webhooks.',
  'test/faults/tool-calls.',
  'src/platform/postgres/embedded-postgres.fault.',
  'test/stories/background.',
  'test/stories/answers.',
  'test/stories/questions.',
  'test/stories/conversations.',
];

/**
 * Starts what takes long first, so that no worker is left alone with it at the end; among the others jest decides. Faults, which
 * wait for processes that start and end, are spread among what works.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests).sort((one, other) => lengthOf(one) - lengthOf(other) || kindOf(one) - kindOf(other));
    const [longest, others] = parted(sorted, (test) => lengthOf(test) < LONGEST.length);
    const [faults, working] = parted(others, (test) => kindOf(test) === 0);
    return [...longest, ...spread(faults, working)];
  }
};

const kindOf = ({ context }) => KINDS.indexOf(context.config.displayName.name);
const lengthOf = ({ path }) => {
  const place = LONGEST.findIndex((name) => path.includes(`/${name}`));
  return place < 0 ? LONGEST.length : place;
};

const parted = (all, isIn) => [all.filter(isIn), all.filter((each) => !isIn(each))];

/** Between two of `few` stand two of `many`: the last of `few` has begun long before the end. */
const spread = (few, many) => [
  ...few.flatMap((one, index) => [one, ...many.slice(2 * index, 2 * index + 2)]),
  ...many.slice(2 * few.length),
];
