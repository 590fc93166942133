import type { AgentRelease } from '../../agents/releases/release.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { PreparedSession } from '../conversationEngine.ts';
import { customerOf } from '../memory/customerMemory.ts';
import {
  type CurrentRelease,
  type CurrentReleasesDeps,
  createCurrentReleases,
  type ReleaseStore,
} from './releases.ts';
import { draftSession, type NewSession, type Session } from './session.ts';
import type { UsageRecorder } from './sessionEnding.ts';
import { sessionPolicy } from './sessionPolicy.ts';

export interface NewSessionsDeps extends CurrentReleasesDeps {
  readonly usage: UsageRecorder;
  readonly makeId: MakeId;
}

/** Chooses the release of new sessions, and counts them. */
export class NewSessions {
  readonly #deps: NewSessionsDeps;
  readonly #currentRelease: ReturnType<typeof createCurrentReleases>;

  constructor(deps: NewSessionsDeps) {
    this.#deps = deps;
    this.#currentRelease = createCurrentReleases(deps);
  }

  /** Counts a new session. @returns The release that it runs on. */
  async admit(wanted: NewSession, requested: NewSession['variables'] = {}): Promise<CurrentRelease> {
    const { usage } = this.#deps;
    const { projectId, channel } = wanted;
    const { countsUsage } = sessionPolicy(wanted);
    const [current] = await Promise.all([
      this.releaseFor(wanted, requested),
      countsUsage && usage.admit(projectId),
    ]);
    if (countsUsage && channel !== 'phone') usage.add(projectId, { chats: 1 });
    return current;
  }

  /** Returns the release that the session of this person runs on. */
  async releaseFor(wanted: NewSession, requested: NewSession['variables'] = {}): Promise<CurrentRelease> {
    const { projectId, sessionId, customerNumber } = wanted;
    const { standIns } = sessionPolicy(wanted);
    if (standIns) {
      const { releaseId } = standIns;
      return { release: await storedRelease(this.#deps.releases, projectId, releaseId), releaseId };
    }
    const person = customerOf({ ...requested, ...wanted.variables }, customerNumber) ?? sessionId;
    return await this.#currentRelease(wanted, person);
  }

  /** Makes a session on a release, with its first event. */
  makeSession({ release, releaseId }: CurrentRelease, wanted: NewSession): PreparedSession {
    const startedAt = new Date(this.#deps.clock.now()).toISOString();
    const session: Session = {
      ...draftSession(wanted, startedAt),
      instanceId: this.#deps.makeId(),
      pathwayId: release.pathwayId,
      releaseId,
      release: release.number ?? null,
      idleMinutes: release.agent.sessionIdleMinutes,
    };
    const { channel, provider, pathwayId } = session;
    const pathwayVersion = release.pathwayVersion;
    const data = { channel, provider, pathwayId, pathwayVersion, draft: wanted.draft ?? false };
    const started = { type: 'session_started', at: session.startedAt, data } as const;
    return { session, started, agent: release.agent };
  }
}

/** Returns a release that a session runs on. */
export async function storedRelease(
  releases: ReleaseStore,
  projectId: string,
  releaseId: string,
): Promise<AgentRelease> {
  const release = await releases.find(projectId, releaseId);
  if (!release) throw new Error(`release ${releaseId} does not exist`);
  return release;
}
