import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { MonitorEvent } from './monitor.events.js';

export const monitorCodec: Codec<MonitorEvent> = {
  MonitorCreated: [],
  MonitorCheckStarted: [],
  MonitorChecked: [],
  MonitorFollowUpRequested: [],
  MonitorPaused: [],
  MonitorResumed: [],
  MonitorCompleted: [],
  MonitorCancelled: [],
};
