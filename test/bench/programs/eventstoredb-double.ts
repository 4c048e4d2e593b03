import { EventStoreDbDouble } from '../../support/eventstoredb-double/event-store-db-double.js';

/**
 * The EventStoreDB double without the failures that it injects for tests. Its argument is the duration of a commit in
 * milliseconds, like that of a disk.
 */
const [commitMs = '1'] = process.argv.slice(2);
const double = await EventStoreDbDouble.start();
double.commits.delayMs = () => Number(commitMs);
process.on('disconnect', () => process.exit(0));
console.log(double.connectionString);
