import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import type { VoiceNode, VoiceNodeRegistry } from './voiceNodeRegistry.ts';

export interface VoiceNodeSelectorDeps {
  readonly nodes: Pick<VoiceNodeRegistry, 'list'>;
  /** This node, where it talks itself. */
  readonly own?: { readonly nodeId: string; readonly url: () => string };
  readonly clock: Clock;
  /** 0 to less than 1. */
  readonly random: () => number;
}

/** Finds the voice node for each call that this node carries. */
export interface VoiceNodeSelector {
  /**
   * This node where it talks, else the least busy one. A call that asks again has lost the node that it had, or did
   * not reach it: that one is passed over for a while, by all calls.
   *
   * @returns Its address, `http://host:port`.
   * @throws {CallwayError} 503 `voice_unavailable` where no node talks.
   */
  select(callId: string): Promise<string>;
  /** The call is over. */
  forget(callId: string): void;
}

/** A dead node's own word runs out within this time; one that only stumbled is tried again after it. */
const SUSPICION_MS = 10_000;
/** A talk that was begun so long ago stands in what the node says of itself. */
const UNSEEN_MS = 1000;

interface Sent {
  readonly nodeId: string;
  readonly atMs: number;
}

export function createVoiceNodeSelector({
  nodes,
  own,
  clock,
  random,
}: VoiceNodeSelectorDeps): VoiceNodeSelector {
  const nodeOfCall = new Map<string, string>();
  const suspectedUntilMs = new Map<string, number>();
  let sent: readonly Sent[] = [];

  const isTrusted = ({ nodeId }: Pick<VoiceNode, 'nodeId'>) =>
    (suspectedUntilMs.get(nodeId) ?? 0) <= clock.monotonicMs();

  const suspect = (callId: string) => {
    const nowMs = clock.monotonicMs();
    for (const [nodeId, untilMs] of suspectedUntilMs) if (untilMs <= nowMs) suspectedUntilMs.delete(nodeId);
    const lost = nodeOfCall.get(callId);
    if (lost !== undefined) suspectedUntilMs.set(lost, nowMs + SUSPICION_MS);
  };

  const leastBusy = (alive: readonly VoiceNode[]): VoiceNode | undefined => {
    const trusted = alive.filter(isTrusted);
    const nowMs = clock.monotonicMs();
    sent = sent.filter(({ atMs }) => nowMs - atMs < UNSEEN_MS);
    const load = ({ nodeId, sessions: talks }: VoiceNode) =>
      talks + sent.filter((one) => one.nodeId === nodeId).length;
    // Better a node that failed somebody than none.
    const candidates = trusted.length > 0 ? trusted : alive;
    const least = Math.min(...candidates.map(load));
    const equals = candidates.filter((node) => load(node) === least);
    return equals[Math.floor(random() * equals.length)];
  };

  return {
    async select(callId) {
      suspect(callId);
      const chosen =
        own && isTrusted(own) ? { nodeId: own.nodeId, url: own.url() } : leastBusy(await nodes.list());
      if (!chosen) {
        throw new CallwayError(
          'unavailable',
          'voice_unavailable',
          'No node that talks is there at the moment',
          {
            retryAfterSeconds: 5,
          },
        );
      }
      nodeOfCall.set(callId, chosen.nodeId);
      sent = [...sent, { nodeId: chosen.nodeId, atMs: clock.monotonicMs() }];
      return chosen.url;
    },
    forget(callId) {
      nodeOfCall.delete(callId);
    },
  };
}
