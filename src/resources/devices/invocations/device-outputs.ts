import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { Ids } from '../../../kernel/ids.js';
import { KeyValue } from '../../../kernel/messaging/key-value.js';
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

/** Exceeds the longest time that a command may run. */
const KEPT_MS = 60 * 60 * 1000;

/**
 * The output of commands, from its arrival until the waiting turn has read it. The log holds its sizes and digests. The text is
 * in the key-value store and is deleted after the call, so that no copy remains of a result that is checked or masked.
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
   * Stores the text, then appends the event that names it. A crash in between leaves a text that no event names, which expires.
   * @throws Rejection device-invocation-not-found, device-invocation-ended, device-output-too-large
   */
  async receive(device: DeviceCaller, invocationId: InvocationId, lines: ReceivedLines): Promise<void> {
    const { state } = await this.streams.fold(invocationStream(invocationId), invocation);
    requireAccess(device, { does: 'serve', invocation: state.requested ?? undefined }, invocationNotFound);
    if (state.status === 'ended') throw new Rejection('device-invocation-ended', 'This invocation has ended');
    const output = await this.keep(invocationId, state, lines.text);
    const finish = lines.end && { ...lines.end, ...(await this.digests(state, lines.text)) };
    if (!output && !finish) return;
    await this.commands.execute(new ReceiveOutput(invocationId, device.deviceId, { output, finish }, device.cause));
  }

  /** All output that was kept, in order of arrival; undefined if a part of it has expired. */
  async textOf({ outputKeys }: Pick<Invocation, 'outputKeys'>): Promise<OutputText | undefined> {
    const entries = await Promise.all(outputKeys.map((key) => this.keyValue.get(key)));
    if (entries.some((entry) => entry === undefined)) return undefined;
    const parts = entries.map((entry) => JSON.parse(entry!.value) as OutputText);
    return { stdout: parts.map(({ stdout }) => stdout).join(''), stderr: parts.map(({ stderr }) => stderr).join('') };
  }

  /** Deletes the output after the call has returned it. */
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

  /** The digests of the whole output; null if a part of it was not kept or is being stored by another request. */
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
