import { repeat } from '../../base/async/repeat.ts';
import { startSessionSweeps } from '../../engine/session/sessionSweeps.ts';
import { startHousekeeping } from '../../infra/postgres/housekeeping.ts';
import { startCounting } from '../../infra/postgres/results/countSessions.ts';
import type { NodeContext } from '../node/node.ts';
import type { Services } from '../services/services.ts';

/** Recordings of calls that were removed stay in the node's reach for at most this time. */
const REMOVED_RECORDINGS_MS = 10_000;

/** Starts the background tasks: maintenance on all nodes, and the cleanup after failed nodes with the role `worker`. */
export function startWorker(
  node: NodeContext,
  { conversations, webhooks, calls, customers, recordings }: Services,
): void {
  const { config, lifecycle, database, clock, logger, onError } = node;
  const { stores } = node.storage;
  const auditRetentionDays = config.AUDIT_RETENTION_DAYS;
  lifecycle.onClose(startHousekeeping({ ...stores, database, auditRetentionDays, clock, logger }));
  lifecycle.onClose(startCounting({ database, clock, onError }));
  lifecycle.onClose(
    startSessionSweeps({
      sessions: stores.sessions,
      endIdle: (found) => conversations.endIdle(found),
      clock,
      onError,
    }),
  );
  lifecycle.onClose(customers.startResuming());
  const removeRecordings = (signal: AbortSignal) => recordings.calls.removeDue(signal);
  lifecycle.onClose(
    repeat(clock, REMOVED_RECORDINGS_MS, removeRecordings, (error) =>
      onError(error, 'recordings not removed, retrying'),
    ),
  );
  webhooks.dispatcher.start();
  webhooks.eventDispatcher.start();
  if (config.ROLES.includes('worker')) calls.startSweeper();
}
