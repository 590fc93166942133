import { createEmitter } from '../../base/emitter.ts';
import { CallwayError } from '../../base/errors.ts';
import type { StreamTarget, TransferStatus } from '../agentStream/streamClient.ts';
import type { DtmfDigit, MediaEvents, MediaParameters, MediaReport, MediaSession } from '../mediaSession.ts';
import type { MediaQuality } from '../quality/mediaQuality.ts';
import { inspectRecording } from '../recording/recordingFile.ts';
import type { MediaThreadEvent, ThreadCallName, ThreadCalls } from './threadMessages.ts';

/** A session's share of its thread. */
export interface SessionLine {
  /** @throws {CallwayError} The thread's own; `media_lost` when it died. */
  call<Name extends ThreadCallName>(
    name: Name,
    sent: ThreadCalls[Name]['sent'],
  ): Promise<ThreadCalls[Name]['answer']>;
}

export interface RemoteSessionOptions {
  /** By which its thread knows it. */
  readonly number: number;
  readonly address: string;
  readonly rtpPort: number;
  readonly line: SessionLine;
  /** Called once, when the ports are free again. */
  readonly onClosed: () => void;
  readonly onListenerError: (error: unknown) => void;
}

/** A session as the main thread sees it: each wish is passed on to the thread that has the audio. */
export class RemoteSession implements MediaSession {
  readonly number: number;
  readonly address: string;
  readonly rtpPort: number;
  readonly events;
  readonly #line: SessionLine;
  readonly #onClosed: () => void;
  #recordingPath: string | undefined;
  #lostReason: string | undefined;
  #closed: Promise<MediaReport> | undefined;

  constructor({ number, address, rtpPort, line, onClosed, onListenerError }: RemoteSessionOptions) {
    this.number = number;
    this.address = address;
    this.rtpPort = rtpPort;
    this.#line = line;
    this.#onClosed = onClosed;
    this.events = createEmitter<MediaEvents>(onListenerError);
  }

  async connect(parameters: MediaParameters): Promise<void> {
    await this.#line.call('connect', parameters);
  }

  async startStream(target: StreamTarget): Promise<void> {
    await this.#line.call('startBridge', target);
  }

  async playApology(): Promise<void> {
    await this.#line.call('apologise', undefined);
  }

  async stopStream(): Promise<void> {
    await this.#line.call('stopBridge', undefined);
  }

  async sendTransferStatus(progress: TransferStatus): Promise<void> {
    await this.#line.call('tellEngine', progress);
  }

  async startRingback(): Promise<void> {
    await this.#line.call('stayBeside', 'ringing');
  }

  async bridge(other: MediaSession): Promise<void> {
    if (!(other instanceof RemoteSession)) throw new TypeError('only calls of this engine can be joined');
    await this.#line.call('stayBeside', other.number);
  }

  async unbridge(): Promise<void> {
    await this.#line.call('stayBeside', 'nobody');
  }

  async startRecording({ path }: { readonly path: string }): Promise<void> {
    await this.#line.call('startRecording', path);
    this.#recordingPath = path;
  }

  async sendDtmf(digits: string): Promise<void> {
    await this.#line.call('sendDtmf', digits);
  }

  async receiveDtmf(key: DtmfDigit): Promise<void> {
    await this.#line.call('takeKey', key);
  }

  async quality(): Promise<MediaQuality> {
    return this.#line.call('figures', undefined);
  }

  close(): Promise<MediaReport> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** For the engine: the thread tells of this session. */
  announce({ name, value }: MediaThreadEvent): void {
    this.events.emit(name, value);
  }

  /** For the engine: the thread died. */
  lose(reason: string): void {
    if (this.#lostReason !== undefined || this.#closed !== undefined) return;
    this.#lostReason = reason;
    this.events.emit('lost', { reason });
  }

  async #close(): Promise<MediaReport> {
    try {
      return await this.#line.call('close', undefined);
    } catch (error) {
      if (!(error instanceof CallwayError && error.code === 'media_lost')) throw error;
      return await this.#reportOfLost(this.#lostReason ?? error.message);
    } finally {
      this.#onClosed();
    }
  }

  /** The thread took its figures with it; the recording is on the disk as far as it was written. */
  async #reportOfLost(reason: string): Promise<MediaReport> {
    if (this.#recordingPath === undefined) return { packetsSent: 0 };
    try {
      return { packetsSent: 0, recording: await inspectRecording(this.#recordingPath, reason) };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const path = this.#recordingPath;
      return {
        packetsSent: 0,
        recording: { path, durationMs: 0, lengthBytes: 0, error: `${reason}; ${why}` },
      };
    }
  }
}
