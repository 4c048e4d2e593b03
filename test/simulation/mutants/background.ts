import { CancelSchedule, RunScheduleNow } from '../../../src/triggers/schedules/schedule/schedule.commands.js';
import { EndScheduleRun } from '../../../src/triggers/schedules/schedule/slot-ledger.commands.js';
import { CreateMonitor } from '../../../src/triggers/monitors/monitor/monitor.commands.js';
import { ReportJob } from '../../../src/background/jobs/job.commands.js';
import type { Mutant } from '../world/mutant.js';
import { withoutReaction, withoutTicker } from './without.js';

const written = { execute: () => Promise.resolve(undefined) };

/** Faults of schedules, jobs, monitors and follow-ups. */
export const MUTANTS_OF_THE_BACKGROUND: readonly Mutant[] = [
  { name: 'lets slots pass', foundAs: /is not over/, ticks: withoutTicker('due-schedules') },
  {
    name: 'decides on slots and runs nothing',
    foundAs: /is not over: .*schedule/,
    roles: withoutReaction('queue-scheduled-runs'),
  },
  {
    name: 'does not hear how the runs of schedules end',
    foundAs: /is not over: .*schedule/,
    roles: withoutReaction('follow-scheduled-runs'),
  },
  {
    name: 'does not tell a schedule that its run is over',
    foundAs: /is not over: .*schedule/,
    roles: ({ handlers }) => void handlers.set(EndScheduleRun, written),
  },
  {
    name: 'keeps from a chat what it wanted done later',
    foundAs: /is not over: .*chat/,
    roles: withoutReaction('append-scheduled-answers'),
  },
  {
    name: 'calls a schedule off and does not write it down',
    foundAs: /was called off, and the log does not say so|is not over: .*schedule/,
    roles: ({ handlers }) => void handlers.set(CancelSchedule, written),
  },
  {
    name: 'accepts a run that is wanted now and does not write it down',
    foundAs: /was accepted, and requested 0 times/,
    roles: ({ handlers }) => void handlers.set(RunScheduleNow, written),
  },
  { name: 'never says that a job is lost', foundAs: /is not over: .*job/, ticks: withoutTicker('report-lost-jobs') },
  { name: 'never says that a job is over', foundAs: /is not over: .*job/, ticks: withoutTicker('request-job-follow-ups') },
  {
    name: 'follow-ups a conversation for a job and does not note it',
    foundAs: /is not over: .*job/,
    roles: ({ handlers }) => void handlers.set(ReportJob, written),
  },
  { name: 'leaves follow-ups where they are', foundAs: /is not over: .*followUps-/, ticks: withoutTicker('deliver-follow-ups') },
  {
    name: 'keeps from conversations what monitors find',
    foundAs: /is not over: .*follow-up/,
    roles: withoutReaction('request-monitor-follow-ups'),
  },
  {
    name: 'follow-ups once more whenever it is asked again',
    foundAs: /follow-ups were requested|has \d+ follow-ups for|was told \d times/,
    roles: ({ followUps, ids }) => {
      if (!followUps) return;
      const followUp = followUps.request.bind(followUps);
      followUps.request = (what, cause) => followUp({ ...what, dedupeKey: `${what.dedupeKey} ${ids.next()}` }, cause);
    },
  },
  {
    name: 'asks the turn of a follow-up under another id each time',
    foundAs: /was told in \d turns|told in another turn/,
    roles: ({ automatic, ids }) => {
      if (!automatic) return;
      const ask = automatic.ask.bind(automatic);
      automatic.ask = (turn, cause) => ask({ ...turn, turnId: ids.next() }, cause);
    },
  },
  {
    name: 'accepts a monitor and does not write it down',
    foundAs: /was accepted, and is not there/,
    roles: ({ handlers }) => void handlers.set(CreateMonitor, written),
  },
];
