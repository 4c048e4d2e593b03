const Sequencer = require('@jest/test-sequencer').default;

const SLOWEST_FIRST = ['fault', 'nats', 'e2e', 'simulation', 'oracle', 'int', 'browser', 'unit'];

/** Starts the slow kinds of suites first, so that no worker is left alone with one at the end; within a kind jest decides. */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((one, other) => rankOf(one) - rankOf(other));
  }
};

const rankOf = ({ context }) => SLOWEST_FIRST.indexOf(context.config.displayName.name);
