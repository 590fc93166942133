import { useEffect, useReducer, useRef } from 'react';

import { startTalk, type Talk, TalkError } from '../../../audio/talk.ts';
import { useRenewSession, useSession } from '../../session/session.ts';
import { listenToSession } from './sessionEvents.ts';
import { type AgentVersion, openStream, sendMessage } from './talkService.ts';
import { newTalk, type TalkState, talkReducer } from './talkState.ts';

const PROCESSOR_URL = '/widget/processor.js';

/** Levels change too often for the page to be rendered. */
export type ShowLevels = (caller: number, agent: number) => void;

export interface TalkActions {
  call(): Promise<void>;
  hangUp(): void;
  mute(isMuted: boolean): void;
  press(digit: string): void;
  send(text: string): Promise<void>;
  /** The next words begin a new session. */
  restart(): void;
}

/** A conversation with the agent by chat and voice, and what happens in it. */
export function useTalk(
  projectId: string,
  version: AgentVersion,
  showLevels: ShowLevels,
): { readonly state: TalkState; readonly actions: TalkActions } {
  const [state, dispatch] = useReducer(talkReducer, undefined, () => newTalk(crypto.randomUUID()));
  const talk = useRef<Talk>(undefined);
  /** Of the newest call; one that connects after the page is left, or begun again, is ended at once. */
  const attempt = useRef(0);
  const { sessionId } = state;
  const signedIn = useSession();
  const conversation = { projectId, sessionId, version, renewSession: useRenewSession() };

  // Before the session begins, so that nothing of it is missed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the browser gives up a stream whose user is not signed in any more.
  useEffect(
    () => listenToSession(projectId, sessionId, (event) => dispatch({ type: 'event', event })),
    [projectId, sessionId, signedIn],
  );
  const leave = () => {
    attempt.current += 1;
    talk.current?.hangUp();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page is left.
  useEffect(() => leave, []);

  const actions: TalkActions = {
    async call() {
      dispatch({ type: 'problem', problem: undefined });
      dispatch({ type: 'call', call: 'connecting' });
      const own = ++attempt.current;
      try {
        const started = await startTalk({
          processorUrl: PROCESSOR_URL,
          openStream: () => openStream(conversation),
          onCaption: (caption) => dispatch({ type: 'caption', caption }),
          onLevels: showLevels,
          onTransfer: (to) => dispatch({ type: 'transfer', to }),
          onEnd(problem) {
            talk.current = undefined;
            dispatch({ type: 'call', call: 'none' });
            if (problem) dispatch({ type: 'problem', problem });
          },
        });
        if (own !== attempt.current) return started.hangUp();
        talk.current = started;
        dispatch({ type: 'call', call: 'connected' });
      } catch (error) {
        dispatch({ type: 'call', call: 'none' });
        dispatch({ type: 'problem', problem: problemOf(error) });
      }
    },
    hangUp: () => talk.current?.hangUp(),
    mute: (isMuted) => talk.current?.mute(isMuted),
    press(digit) {
      talk.current?.sendDigit(digit);
      dispatch({ type: 'digit', digit });
    },
    async send(text) {
      dispatch({ type: 'written', speaker: 'caller', text });
      dispatch({ type: 'written', speaker: 'agent', text: '' });
      try {
        await sendMessage(conversation, text, (more) => dispatch({ type: 'written_more', text: more }));
      } catch (error) {
        dispatch({ type: 'problem', problem: problemOf(error) });
      }
      dispatch({ type: 'answered' });
    },
    restart() {
      leave();
      dispatch({ type: 'reset', sessionId: crypto.randomUUID() });
    },
  };
  return { state, actions };
}

function problemOf(error: unknown): TalkState['problem'] {
  if (error instanceof TalkError) return error.problem;
  return error instanceof Error ? error : new Error(String(error));
}
