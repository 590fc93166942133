import type { MediaSession } from '../../media/mediaSession.ts';
import type { Call } from '../call.ts';
import type { StartedSession } from '../setup/callSessions.ts';
import type { CallEvent, CallState } from './callMachine.ts';
import type { CallStreams } from './callStreams.ts';
import type { SupervisedCall } from './supervisedCall.ts';

export interface CallAgentStreamDeps {
  readonly streams: CallStreams;
  readonly supervised: SupervisedCall;
  readonly state: () => CallState;
  readonly dispatch: (event: CallEvent) => void;
  /** Records an error in the call's history. */
  readonly addError: (code: string, message: string) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * The stream between a call and its agent. The call machine says when it is opened, and how often again.
 *
 * ```
 *               open()            opened          broken
 *   unopened ───────────▶ opening ───────▶ open ─────────▶ lost
 *                          │   ▲                            │
 *                   failed ▼   └──────── open() ────────────┤
 *                         away ─────────────────────────────┘
 * ```
 */
export class CallAgentStream {
  readonly #deps: CallAgentStreamDeps;
  #stage: 'unopened' | 'opening' | 'open' | 'lost' | 'away' = 'unopened';
  /** The session that was started for the first stream. */
  #started: StartedSession | undefined;
  /** True while the stream's target allows another attempt. */
  #canReconnect = true;

  constructor(deps: CallAgentStreamDeps) {
    this.#deps = deps;
  }

  /** The call's session was started, for the first words. */
  bring(started: StartedSession | undefined): void {
    this.#started = started;
  }

  /** Tries to open it, and tells an agent that replaces another one what supervisors asked. Never rejects. */
  async open(call: Call, media: MediaSession): Promise<void> {
    const { streams, supervised, state, dispatch } = this.#deps;
    if (state().phase !== 'connecting') return;
    const wasAway = this.#stage === 'away';
    this.#stage = 'opening';
    const started = this.#started;
    this.#started = undefined;
    try {
      const target = await streams.agent(call, started);
      this.#canReconnect = target.canReconnect;
      const controls = supervised.agentControls;
      await media.startStream(target, controls);
      this.#stage = 'open';
      dispatch({ type: 'stream_open' });
      supervised.tellSince(controls);
    } catch (error) {
      this.#stage = 'away';
      // The call may have ended meanwhile.
      if (state().phase === 'connecting') this.#onFailed(error, media, wasAway);
    }
  }

  onClosed(how: 'stopped' | 'broken'): void {
    const { state, dispatch, addError } = this.#deps;
    if (how === 'broken' && state().phase === 'connected') {
      this.#stage = 'lost';
      addError(
        'engine_lost',
        `The connection to the agent was lost${this.#canReconnect ? '; reconnecting' : ''}`,
      );
    }
    dispatch({ type: 'stream_closed', how: this.#canReconnect ? how : 'stopped' });
  }

  /** @param wasAway - The attempt before failed too, which the call's history says already. */
  #onFailed(error: unknown, media: MediaSession, wasAway: boolean): void {
    const { dispatch, addError, onError } = this.#deps;
    onError(error, 'agent stream not opened');
    if (!wasAway) addError('engine_unavailable', 'The agent could not be reached');
    if (this.#canReconnect)
      media.awaitAgent().catch((failure: unknown) => onError(failure, 'caller not asked to hold'));
    dispatch({ type: 'stream_failed', isInternal: this.#canReconnect });
  }
}
