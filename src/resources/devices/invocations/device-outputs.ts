import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { Ids } from '../../../kernel/ids.js';
import { KeyValue } from '../../../kernel/key-value.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { requireAccess } from '../../identity/access.policy.js';
import type { DeviceCaller } from '../../identity/caller.js';
import { ReceiveOutput, type ReceivedOutput } from './device-invocation.commands.js';
import { type Invocation, invocation, invocationNotFound } from './device-invocation.decider.js';
import { type InvocationId, invocationStream } from './device-invocation.events.js';
import {
  keptBytesOf,
  OUTPUT_KEPT_BYTES_MAX,
  type OutputText,
  type ReceivedLines,
  sha256Of,
  withinRoom,
} from './output.policy.js';

/** Longer than any command runs. */
const KEPT_MS = 60 * 60 * 1000;

/**
 * The output of commands on its way from devices to the turns that wait for it. The log says how much came and what its digest is;
 * the text is in the key-value store and goes with the call: where a result is checked or masked, no other copy of it stays.
 */
@Injectable()
export class DeviceOutputs {
  constructor(
    private readonly streams: Streams,
    private readonly keyValue: KeyValue,
    private readonly commands: Commands,
    private readonly ids: Ids,
  ) {}

  /**
   * First the text, then the event that names it. A crash in between leaves text that nothing names, which goes with time.
   * @throws Rejection device-invocation-not-found, device-invocation-ended, device-output-too-large
   */
  async receive(device: DeviceCaller, invocationId: InvocationId, lines: ReceivedLines): Promise<void> {
    const { state } = await this.streams.fold(invocationStream(invocationId), invocation);
    requireAccess(device, { does: 'serve', invocation: state.requested ?? undefined }, invocationNotFound);
    if (state.status === 'ended') throw new Rejection('device-invocation-ended', 'This invocation is over');
    const output = await this.keep(invocationId, state, lines.text);
    const finish = lines.end && { ...lines.end, ...(await this.digests(state, lines.text)) };
    if (!output && !finish) return;
    await this.commands.execute(new ReceiveOutput(invocationId, device.deviceId, { output, finish }, device.cause));
  }

  /** All that was kept, in the order in which it came; undefined where the store has forgotten some of it. */
  async textOf({ outputKeys }: Pick<Invocation, 'outputKeys'>): Promise<OutputText | undefined> {
    const entries = await Promise.all(outputKeys.map((key) => this.keyValue.get(key)));
    if (entries.some((entry) => entry === undefined)) return undefined;
    const parts = entries.map((entry) => JSON.parse(entry!.value) as OutputText);
    return { stdout: parts.map(({ stdout }) => stdout).join(''), stderr: parts.map(({ stderr }) => stderr).join('') };
  }

  /** The call has the output: no other copy is needed. */
  async purge({ outputKeys }: Pick<Invocation, 'outputKeys'>): Promise<void> {
    await Promise.all(outputKeys.map((key) => this.keyValue.delete(key)));
  }

  private async keep(invocationId: InvocationId, state: Invocation, text: OutputText): Promise<ReceivedOutput['output']> {
    if (text.stdout === '' && text.stderr === '') return undefined;
    const kept = withinRoom(text, OUTPUT_KEPT_BYTES_MAX - state.keptBytes);
    const outputKey = `device-output.${invocationId}.${this.ids.next()}`;
    await this.keyValue.put(outputKey, JSON.stringify(kept), { ttlMs: KEPT_MS });
    return {
      outputKey,
      keptBytes: keptBytesOf(kept),
      stdoutBytes: Buffer.byteLength(text.stdout),
      stderrBytes: Buffer.byteLength(text.stderr),
    };
  }

  /** Of the whole output. Nothing is said of one of which some was not kept, or came beside this request. */
  private async digests(state: Invocation, text: OutputText) {
    const before = await this.textOf(state);
    const isWhole =
      before !== undefined &&
      Buffer.byteLength(before.stdout) === state.stdoutBytes &&
      Buffer.byteLength(before.stderr) === state.stderrBytes;
    if (!isWhole) return { stdoutSha256: null, stderrSha256: null };
    return { stdoutSha256: sha256Of(before.stdout + text.stdout), stderrSha256: sha256Of(before.stderr + text.stderr) };
  }
}
