const Sequencer = require('@jest/test-sequencer').default;

const KINDS = ['fault', 'nats', 'e2e', 'simulation', 'oracle', 'int', 'browser', 'unit'];
/** Suites that take minutes, the longest first. */
const LONGEST = [
  'faults/kill',
  'faults/schedules',
  'faults/webhooks',
  'faults/tool-calls',
  'stories/resources',
  'stories/background',
  'stories/answers',
  'stories/questions',
  'stories/triggers',
];

/** Starts what takes long first, so that no worker is left alone with it at the end; among the others jest decides. */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((one, other) => kindOf(one) - kindOf(other) || lengthOf(one) - lengthOf(other));
  }
};

const kindOf = ({ context }) => KINDS.indexOf(context.config.displayName.name);
const lengthOf = ({ path }) => {
  const place = LONGEST.findIndex((name) => path.includes(`/test/${name}.`));
  return place < 0 ? LONGEST.length : place;
};
