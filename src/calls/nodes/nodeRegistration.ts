import { repeat } from '../../base/repeat.ts';
import type { CallStore } from '../callStore.ts';
import { endOrphan, type OrphanDeps } from './callSweeper.ts';

/** Several of these fit into the time after which a node is taken to be dead. */
const BEAT_MS = 5_000;

export interface NodeRegistrationDeps extends OrphanDeps {
  readonly calls: Pick<CallStore, 'recordHeartbeat' | 'listUnsettledOn' | 'releaseClaim'>;
  readonly nodeId: string;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Begins the life of a node that carries calls: ends what its former life left, and beats from then on.
 *
 * @returns A function that stops it; idempotent. The calls that it carries still are the sweeper's after a while.
 */
export async function registerNode(deps: NodeRegistrationDeps): Promise<() => Promise<void>> {
  const { calls, nodeId, clock, onError } = deps;
  const beat = () => calls.recordHeartbeat(nodeId, new Date(clock.now()));
  for (const left of await calls.listUnsettledOn(nodeId)) {
    await endOrphan(deps, left).catch((error: unknown) => {
      onError(error, 'a call of this node’s former life was not ended; the sweeper ends it');
    });
  }
  await beat();
  return repeat(clock, BEAT_MS, beat, (error) => onError(error, 'the node could not say that it lives'));
}
