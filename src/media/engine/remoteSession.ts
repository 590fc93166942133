import { createEmitter } from '../../base/emitter.ts';
import { CallwayError } from '../../base/errors.ts';
import { methodsBy } from '../../base/threads/remote.ts';
import type {
  AudioCommands,
  EmitMediaEvent,
  MediaEvents,
  MediaReport,
  MediaSession,
  PartyCommands,
} from '../mediaSession.ts';
import { completeRecording } from '../recording/recordingFile.ts';
import type { MediaCommand, SessionReference } from './threadMessages.ts';

export interface RemoteSessionOptions {
  /** The session's number in its thread. */
  readonly session: number;
  readonly address: string;
  readonly rtpPort: number;
  /** Performs a command in the session's thread. @throws {CallwayError} `media_lost` when the thread is gone. */
  readonly command: (name: MediaCommand, args: readonly unknown[]) => Promise<unknown>;
  /** Called once, when the ports are free again. */
  readonly onClosed: () => void;
  readonly onListenerError: (error: unknown) => void;
}

/** A media session in the main thread: each command is a call to the thread that has the audio. */
export interface RemoteSession extends MediaSession {
  /** The session's number in its thread. */
  readonly session: number;
  /** Emits an event of the thread. Only the engine calls it. */
  readonly emit: EmitMediaEvent;
  /** Ends the session after its thread has exited. Only the engine calls it. */
  lose(reason: string): void;
}

export function createRemoteSession(options: RemoteSessionOptions): RemoteSession {
  const { session, address, rtpPort, onClosed, onListenerError } = options;
  const events = createEmitter<MediaEvents>(onListenerError);
  const commands = methodsBy<AudioCommands & PartyCommands>((name, args) =>
    options.command(name as MediaCommand, args.map(toReference)),
  );
  let recordingPath: string | undefined;
  let lostReason: string | undefined;
  let closed: Promise<MediaReport> | undefined;

  async function close(): Promise<MediaReport> {
    try {
      return await commands.close();
    } catch (error) {
      if (!(error instanceof CallwayError && error.code === 'media_lost')) throw error;
      return await reportLoss(lostReason ?? error.message, recordingPath);
    } finally {
      onClosed();
    }
  }

  const own: Omit<RemoteSession, Exclude<MediaCommand, 'startRecording' | 'close'>> = {
    ...{ session, address, rtpPort, events },
    emit: events.emit,
    async startRecording({ path }) {
      await commands.startRecording({ path });
      recordingPath = path;
    },
    lose(reason) {
      if (lostReason !== undefined || closed !== undefined) return;
      lostReason = reason;
      events.emit('lost', { reason });
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
  return Object.setPrototypeOf(own, commands);
}

export function isRemoteSession(session: unknown): session is RemoteSession {
  return session instanceof Object && 'session' in session && 'lose' in session;
}

function toReference(argument: unknown): unknown {
  if (!isRemoteSession(argument)) return argument;
  return { sessionNumber: argument.session } satisfies SessionReference;
}

/** Quality and counters are lost with the thread; the recording is kept as far as it was written. */
async function reportLoss(reason: string, path: string | undefined): Promise<MediaReport> {
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
