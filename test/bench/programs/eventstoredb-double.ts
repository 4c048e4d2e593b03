import { EventStoreDbDouble } from '../../support/eventstoredb-double/event-store-db-double.js';

/**
 * The double of EventStoreDB without the troubles it makes for tests. Its argument is how many milliseconds a commit takes, as a
 * disk would have it.
 */
const [commitMs = '1'] = process.argv.slice(2);
const double = await EventStoreDbDouble.start();
double.commits.delayMs = () => Number(commitMs);
process.on('disconnect', () => process.exit(0));
console.log(double.connectionString);
