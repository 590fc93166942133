import type { AgentRelease } from '../../agents/releases/release.ts';
import type {
  ProviderCredentialStore,
  ProviderCredentials,
} from '../../agents/speech/providerCredentials.ts';
import type { Sealer } from '../../base/sealer.ts';
import type { ReadAhead as Reader } from '../../calls/setup/callSessions.ts';
import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { ThreadContext } from '../node/threadContext.ts';

/** What a session's first words need from the database, beside the session. */
interface ReadAhead {
  readonly release: AgentRelease;
  readonly credentials: readonly ProviderCredentials[];
}

export interface ReadAheadDeps {
  readonly storage: {
    readonly stores: { readonly providerCredentials: ProviderCredentialStore };
  };
  readonly sealer: Sealer;
  readonly onError: (error: unknown, what: string) => void;
}

/** Reads ahead on the node that opens a session's first stream, before the call is answered. Both parts have secrets. */
export function readerAhead(
  { storage, sealer, onError }: ReadAheadDeps,
  conversations: ConversationEngine,
): Reader {
  return async (projectId, starting) => {
    try {
      const reading = starting.then(
        (session) => session && conversations.releaseOf(session),
        () => undefined, // reported by the one who started it
      );
      const [credentials, release] = await Promise.all([
        storage.stores.providerCredentials.all(projectId),
        reading,
      ]);
      return release && sealer.seal(JSON.stringify({ release, credentials } satisfies ReadAhead));
    } catch (error) {
      onError(error, 'session of a call not read ahead');
      return undefined;
    }
  };
}

/** Takes what was read ahead into the caches of the voice thread that serves the stream. */
export function takeReadAhead(
  { sealer, credentials }: Pick<ThreadContext, 'sealer' | 'credentials'>,
  conversations: ConversationEngine,
  { projectId, opening }: Pick<AudioStream['info'], 'projectId' | 'opening'>,
): void {
  if (opening?.readAhead === undefined) return;
  const read: ReadAhead = JSON.parse(sealer.open(opening.readAhead));
  conversations.knowRelease(opening.session, read.release);
  credentials.prime(projectId, read.credentials);
}
