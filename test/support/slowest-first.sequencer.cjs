const Sequencer = require('@jest/test-sequencer').default;

const KINDS = ['fault', 'nats', 'browser', 'e2e', 'simulation', 'oracle', 'int', 'unit'];
/** Suites that take minutes, longest first. */
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
 * Starts the longest suites first, so that no worker runs one alone at the end. jest orders the others. Fault suites, which
 * mostly wait for processes to start and end, are spread among suites that use the CPU.
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

/** Puts two of `many` between two of `few`, so that the last of `few` starts long before the end. */
const spread = (few, many) => [
  ...few.flatMap((one, index) => [one, ...many.slice(2 * index, 2 * index + 2)]),
  ...many.slice(2 * few.length),
];
