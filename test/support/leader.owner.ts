import { openDatabase } from '../../src/platform/postgres/database.js';
import { Leadership } from '../../src/platform/supervision/leadership.js';
import { systemTiming } from '../../src/platform/system-timing.js';

// Leads the part `a` of the database that is named by its URL, and prints when it gains and loses that.
const sql = openDatabase({ url: process.argv[2]!, name: 'leader' });
const lost = await new Leadership(sql, systemTiming, { everyMs: 50, silentMsMax: Number(process.argv[3]) }).gain(
  'a',
  new AbortController().signal,
);
console.log('gained');
lost!.addEventListener('abort', () => console.log('lost'));
