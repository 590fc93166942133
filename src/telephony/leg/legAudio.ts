import type { MediaParameters, MediaSession } from '../../media/mediaSession.ts';
import type { Agreement } from '../sdp/negotiate.ts';
import type { SdpSession } from '../sdp/session.ts';

/** A leg's audio, from the port that is reserved for it to its close. */
export interface LegAudio {
  readonly media: MediaSession | undefined;
  readonly sdp: SdpSession | undefined;
  /** What was agreed last. */
  readonly parameters: MediaParameters | undefined;
  /** After `close` it is closed at once. */
  set(session: MediaSession, sdp: SdpSession): void;
  /** Connects or reconnects it, and tells whether the peer holds the call. */
  apply(agreement: Agreement): Promise<void>;
  close(): void;
}

export function createLegAudio(
  announceHeld: (isHeld: boolean) => void,
  onError: (error: unknown, what: string) => void,
): LegAudio {
  let media: MediaSession | undefined;
  let sdp: SdpSession | undefined;
  let parameters: MediaParameters | undefined;
  let isHeld = false;
  let isClosed = false;
  const shut = (session: MediaSession) => {
    session.close().catch((error: unknown) => onError(error, 'the audio of a call did not close'));
  };
  return {
    get media() {
      return media;
    },
    get sdp() {
      return sdp;
    },
    get parameters() {
      return parameters;
    },
    set(session, description) {
      if (isClosed) return shut(session);
      media = session;
      sdp = description;
    },
    async apply(agreement) {
      if (!media) throw new Error('the leg has no audio yet');
      const next = reachable(agreement.parameters, parameters);
      await media.connect(next);
      parameters = next;
      if (agreement.isHeld === isHeld) return;
      isHeld = agreement.isHeld;
      announceHeld(isHeld);
    },
    close() {
      isClosed = true;
      if (media) shut(media);
    },
  };
}

/** A hold of the old kind names no address; the last one stands for when it is over. */
function reachable(next: MediaParameters, last: MediaParameters | undefined): MediaParameters {
  const isNowhere = /^[0:.]+$/.test(next.remote.address);
  return isNowhere && last ? { ...next, remote: last.remote } : next;
}
