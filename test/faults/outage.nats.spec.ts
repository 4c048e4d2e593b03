import { it } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { OUTAGE_TEST_MS_MAX, outageStory } from './outage.story.js';

it(
  'streams survive a NATS outage of ten seconds',
  async () => {
    const make = async () => {
      const backing = await onEventStoreDbAndNats();
      return { backing, goAway: () => backing.nats.kill(), comeBack: () => backing.nats.restart() };
    };
    await outageStory(make);
  },
  OUTAGE_TEST_MS_MAX,
);
