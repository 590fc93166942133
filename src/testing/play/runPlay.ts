import type { AgentRelease } from '../../agents/releases/release.ts';
import type { PatternMatcher } from '../../agents/schemaChecker.ts';
import type { Clock } from '../../base/values/clock.ts';
import { executionMode, type ModelChoice } from '../../engine/turn/turnContext.ts';
import { judgeAssertion } from '../assertions/assertions.ts';
import { askJudge } from '../assertions/judge.ts';
import type { RehearsalOutcome } from '../rehearsal/callee.ts';
import type { PlayedDefinition } from '../runs/testRunStore.ts';
import type { PlayChannel } from './channel.ts';
import { type PlayOutcome, playCase } from './playCase.ts';
import type { PlayedSession } from './testSessions.ts';

/** Asks for one play of a case. */
export interface PlayRequest {
  readonly projectId: string;
  readonly sessionId: string;
  readonly release: AgentRelease;
  readonly releaseId: string;
  readonly draft: boolean;
  readonly seed: number;
  readonly definition: PlayedDefinition;
}

export interface Played extends PlayOutcome {
  /**
   * The session to be stored; undefined when the caller did nothing, and for a call, whose session is stored as any
   * other.
   */
  readonly session?: PlayedSession | undefined;
  /** The key of the call's recording; undefined for a chat. */
  readonly recordingKey?: string | undefined;
  /** What the call of a campaign's contact came to. */
  readonly outcome?: RehearsalOutcome | undefined;
}

export interface PlayDeps {
  readonly models: ModelChoice;
  readonly patterns: PatternMatcher;
  readonly clock: Clock;
}

/** Plays a case's caller on a channel; a model of the agent's mode plays its persona and judges. */
export function runPlay(
  { models, patterns, clock }: PlayDeps,
  { projectId, definition, release, seed }: PlayRequest,
  channel: PlayChannel,
  signal: AbortSignal,
): Promise<PlayOutcome> {
  const chat = models.ofInstallation?.(projectId) ?? models.chat;
  const model = { chat, modelName: models[executionMode(release.agent)], seed };
  const assertionDeps = {
    projectId,
    patterns,
    judge: (...asked: Parameters<typeof askJudge> extends [unknown, ...infer Rest] ? Rest : never) =>
      askJudge(model, ...asked),
  };
  return playCase(
    {
      channel,
      judge: (assertion, seen, judgeSignal) => judgeAssertion(assertionDeps, assertion, seen, judgeSignal),
      persona: model,
      clock,
    },
    definition,
    signal,
  );
}
