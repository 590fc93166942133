import type { WidgetMinutes, WidgetSessions } from '../agents/accounts/widgetToken.ts';
import { repeat } from '../base/async/repeat.ts';
import type { Clock } from '../base/values/clock.ts';
import type { AudioStream } from '../conversation/streams/audioStream.ts';
import type { TextStream } from '../conversation/streams/textStream.ts';
import { findDialect, isTextDialect } from '../dialects/index.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import { acceptStream, acceptTextStream } from './acceptStream.ts';
import type { JambonzApplications } from './jambonzApplications.ts';
import type { StreamSlots } from './mediaStreams.ts';
import type { StreamGrant } from './streamTickets.ts';
import { CLOSE_NORMAL, CLOSE_POLICY_VIOLATION, type StreamSocket } from './transport/streamSocket.ts';
import { VisitorMinutes } from './visitorMinutes.ts';

export interface ServeStreamDeps {
  readonly slots: Pick<StreamSlots, 'release'> & {
    renew(projectId: string, slotId: string): Promise<void>;
  };
  readonly widgetSessions: WidgetSessions;
  /** Absent where no jambonz applications are served. */
  readonly applications?: JambonzApplications | undefined;
  /** The minutes that visitors of web pages have left. */
  readonly minutes: WidgetMinutes;
  readonly conversations: ConversationEngine;
  /** Runs a session on the stream; resolves when it has ended. */
  readonly serveVoiceSession: (stream: AudioStream | TextStream) => Promise<unknown>;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** A third of the time after which a slot expires. */
const RENEW_SLOT_MS = 20_000;

/** Serves an admitted connection. Resolves when its voice session has ended; never rejects. */
export async function serveStream(
  deps: ServeStreamDeps,
  grant: StreamGrant,
  socket: StreamSocket,
): Promise<void> {
  const { projectId, sessionId, callId } = grant;
  const fields = { projectId, sessionId, callId };
  const onListenerError = (error: unknown, event: string) =>
    deps.onError(error, `audio stream: a listener of ${event} failed`, fields);
  const freeSlot = holdSlot(deps, grant);
  const used = useMinutes(deps, grant, socket);
  try {
    const accept = isTextDialect(findDialect(grant.dialect)) ? acceptTextStream : acceptStream;
    const { clock, applications } = deps;
    if (applications?.isApplication(grant, socket)) {
      await applications.serve(grant, socket);
      await deps.conversations.end(projectId, sessionId, 'call_ended');
      return;
    }
    const stream = await accept(socket, grant, { clock, applications, onListenerError });
    if (!stream) return;
    if (applications?.hasEnded(grant)) {
      stream.close(CLOSE_POLICY_VIOLATION, 'the call has ended');
      return;
    }
    const endAudio = applications?.beginAudio(grant, socket);
    await deps.serveVoiceSession(stream).finally(endAudio);
    stream.close(CLOSE_NORMAL);
    const { malformed } = stream;
    if (malformed > 0) {
      deps.onError(undefined, 'audio stream: messages could not be read', { ...fields, malformed });
    }
    // The carrier has ended its call. Our own calls end their session themselves, and a stream that only broke may be
    // reconnected.
    if (callId === undefined && grant.applicationId === undefined && stream.wasStopped) {
      await deps.conversations.end(projectId, sessionId, 'call_ended');
    }
  } catch (error) {
    deps.onError(error, 'audio stream failed', fields);
    socket.terminate();
  } finally {
    await used?.close();
    await freeSlot();
  }
}

function useMinutes(
  { minutes, clock, onError }: ServeStreamDeps,
  { projectId, sessionId, visitor }: StreamGrant,
  socket: StreamSocket,
): VisitorMinutes | undefined {
  if (!visitor) return undefined;
  const fields = { projectId, sessionId, widgetTokenId: visitor.tokenId };
  return new VisitorMinutes(visitor, {
    minutes,
    clock,
    onUsedUp: () =>
      socket.close(CLOSE_POLICY_VIOLATION, 'the widget has no minutes left, or was switched off'),
    onError: (error) => onError(error, 'minutes of a widget not counted, retrying', fields),
  });
}

/** Renews the slots of a stream until the returned function is called, which never rejects. */
function holdSlot(
  { slots, widgetSessions, clock, onError }: ServeStreamDeps,
  { projectId, sessionId, slotId, visitor }: StreamGrant,
): () => Promise<void> {
  if (slotId === undefined) return async () => undefined;
  const report = (error: unknown) =>
    onError(error, 'slot of an audio stream not updated, it expires', { projectId, sessionId });
  const renew = async () => {
    await slots.renew(projectId, slotId);
    if (visitor) await widgetSessions.renew(visitor.tokenId, slotId);
  };
  const stop = repeat(clock, RENEW_SLOT_MS, renew, report);
  return async () => {
    await stop();
    await slots.release(projectId, slotId).catch(report);
    if (visitor) await widgetSessions.end(visitor.tokenId, slotId).catch(report);
  };
}
