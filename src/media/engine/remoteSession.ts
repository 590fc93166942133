import { createEmitter } from '../../base/emitter.ts';
import { CallwayError } from '../../base/errors.ts';
import type { AgentControl, StreamTarget, TransferStatus } from '../agentStream/streamClient.ts';
import type { Participation } from '../conference/participant.ts';
import type { MediaQuality } from '../mediaQuality.ts';
import type { DtmfDigit, MediaEvents, MediaParameters, MediaReport, MediaSession } from '../mediaSession.ts';
import { completeRecording } from '../recording/recordingFile.ts';
import type { MusicSource } from '../session/holdMusic.ts';
import type { SupervisorAddress, SupervisorRequest } from '../supervision/supervisorStream.ts';
import type { MediaThread } from './mediaThread.ts';
import type { MediaThreadEvent, ThreadRequestName, ThreadRequests } from './threadMessages.ts';

export interface RemoteSessionOptions {
  /** The session's number in its thread. */
  readonly session: number;
  readonly address: string;
  readonly rtpPort: number;
  readonly thread: Pick<MediaThread, 'request'>;
  /** Called once, when the ports are free again. */
  readonly onClosed: () => void;
  readonly onListenerError: (error: unknown) => void;
}

/** A media session in the main thread: each method is a request to the thread that has the audio. */
export class RemoteSession implements MediaSession {
  readonly session: number;
  readonly address: string;
  readonly rtpPort: number;
  readonly events;
  readonly #thread: RemoteSessionOptions['thread'];
  readonly #onClosed: () => void;
  #recordingPath: string | undefined;
  #lostReason: string | undefined;
  #closed: Promise<MediaReport> | undefined;

  constructor({ session, address, rtpPort, thread, onClosed, onListenerError }: RemoteSessionOptions) {
    this.session = session;
    this.address = address;
    this.rtpPort = rtpPort;
    this.#thread = thread;
    this.#onClosed = onClosed;
    this.events = createEmitter<MediaEvents>(onListenerError);
  }

  connect(parameters: MediaParameters): Promise<void> {
    return this.#request('connect', parameters);
  }

  startStream(target: StreamTarget): Promise<void> {
    return this.#request('startStream', target);
  }

  awaitAgent(): Promise<void> {
    return this.#request('awaitAgent', undefined);
  }

  playApology(): Promise<void> {
    return this.#request('playApology', undefined);
  }

  stopStream(): Promise<void> {
    return this.#request('stopStream', undefined);
  }

  sendTransferStatus(status: TransferStatus): Promise<void> {
    return this.#request('sendTransferStatus', status);
  }

  controlAgent(control: AgentControl): Promise<void> {
    return this.#request('controlAgent', control);
  }

  async admitSupervisor(request: SupervisorRequest, participant?: MediaSession): Promise<SupervisorAddress> {
    const only = participant && { participant: numberOf(participant) };
    return await this.#request('admitSupervisor', { ...request, ...only });
  }

  startRingback(): Promise<void> {
    return this.#request('startRingback', undefined);
  }

  async bridge(other: MediaSession): Promise<void> {
    await this.#request('bridge', numberOf(other));
  }

  unbridge(): Promise<void> {
    return this.#request('unbridge', undefined);
  }

  async join(call: MediaSession): Promise<void> {
    await this.#request('join', numberOf(call));
  }

  setParticipation(participation: Participation): Promise<void> {
    return this.#request('setParticipation', participation);
  }

  startMusic(source: MusicSource): Promise<void> {
    return this.#request('startMusic', source);
  }

  stopMusic(): Promise<void> {
    return this.#request('stopMusic', undefined);
  }

  async recordAside(other: MediaSession): Promise<void> {
    await this.#request('recordAside', numberOf(other));
  }

  async startRecording({ path }: { readonly path: string }): Promise<void> {
    await this.#request('startRecording', path);
    this.#recordingPath = path;
  }

  pauseRecording(isPaused: boolean): Promise<void> {
    return this.#request('pauseRecording', isPaused);
  }

  sendDtmf(digits: string): Promise<void> {
    return this.#request('sendDtmf', digits);
  }

  receiveDtmf(digit: DtmfDigit): Promise<void> {
    return this.#request('receiveDtmf', digit);
  }

  quality(): Promise<MediaQuality> {
    return this.#request('quality', undefined);
  }

  close(): Promise<MediaReport> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Emits an event of the thread. Only the engine calls it. */
  emit({ name, value }: MediaThreadEvent): void {
    this.events.emit(name, value);
  }

  /** Ends the session after its thread has exited. Only the engine calls it. */
  lose(reason: string): void {
    if (this.#lostReason !== undefined || this.#closed !== undefined) return;
    this.#lostReason = reason;
    this.events.emit('lost', { reason });
  }

  #request<Name extends ThreadRequestName>(
    name: Name,
    argument: ThreadRequests[Name][0],
  ): Promise<ThreadRequests[Name][1]> {
    return this.#thread.request(this.session, name, argument);
  }

  async #close(): Promise<MediaReport> {
    try {
      return await this.#request('close', undefined);
    } catch (error) {
      if (!(error instanceof CallwayError && error.code === 'media_lost')) throw error;
      return await this.#reportLoss(this.#lostReason ?? error.message);
    } finally {
      this.#onClosed();
    }
  }

  /** Quality and counters are lost with the thread; the recording is kept as far as it was written. */
  async #reportLoss(reason: string): Promise<MediaReport> {
    const path = this.#recordingPath;
    if (path === undefined) return { packetsSent: 0 };
    try {
      const length = await completeRecording(path);
      if (length === undefined) throw new Error('the recording has no audio');
      const { durationMs, bytes } = length;
      return { packetsSent: 0, recording: { path, durationMs, lengthBytes: bytes } };
    } catch (cause) {
      const error = `${reason}; ${cause instanceof Error ? cause.message : String(cause)}`;
      return { packetsSent: 0, recording: { path, durationMs: 0, lengthBytes: 0, error } };
    }
  }
}

function numberOf(other: MediaSession): number {
  if (!(other instanceof RemoteSession)) throw new TypeError('only calls of one media engine can be bridged');
  return other.session;
}
