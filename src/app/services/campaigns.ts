import type { Stores } from '../../api/ports.ts';
import type { Call } from '../../calls/call.ts';
import { Campaigns, requireCampaign } from '../../campaigns/campaigns.ts';
import { importWork } from '../../campaigns/imports/importWork.ts';
import { campaignTarget, doNotCallTarget } from '../../campaigns/imports/targets.ts';
import { campaignWork } from '../../campaigns/runCampaign.ts';
import { announceFinished, settleContact } from '../../campaigns/settleContact.ts';
import type { NodeContext } from '../node/node.ts';
import type { BuiltCalls } from './calls.ts';
import type { BuiltKnowledge } from './knowledge.ts';
import { announcer, startWork } from './work.ts';

const KIND = 'campaigns';

/** Campaigns and imports of lists; nodes of the role `worker` also place their calls, and read the lists. */
export function buildCampaigns(
  node: NodeContext,
  { limiter, service }: BuiltCalls,
  knowledge: BuiltKnowledge,
) {
  const { clock, makeId, storage, config, liveEvents } = node;
  const { stores } = storage;
  const logger = node.logger.child({ part: 'campaigns' });
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const campaigns = new Campaigns({
    destinations: (projectId) => limiter.destinationRefusals(projectId),
    listedAmong: stores.doNotCall.listedAmong,
    wake: announcer(node, KIND, onError),
    liveEvents,
    clock,
    makeId,
  });
  if (config.ROLES.includes('worker')) {
    const { files, parser, documents } = knowledge;
    const imports = importWork<Stores>(
      {
        imports: stores.contactImports,
        transaction: storage.transaction,
        async targetOf({ projectId, campaignId }) {
          const now = () => new Date(clock.now()).toISOString();
          if (projectId === null) return doNotCallTarget(null, undefined, now);
          if (campaignId !== null)
            return campaignTarget(
              campaigns,
              requireCampaign(await stores.campaigns.find(projectId, campaignId)),
            );
          const { items } = await stores.phoneNumbers.list(projectId, { limit: 1, offset: 0 });
          return doNotCallTarget(projectId, items[0]?.number, now);
        },
        parser,
        files,
        cleanUp: documents.cleanUp,
        clock,
        onEnd: ({ id: importId, projectId, campaignId }, reason) =>
          logger.info({ importId, projectId, campaignId, reason }, 'import of contacts ended'),
      },
      storage.work['contact-imports'],
    );
    startWork(node, imports, onError);
    const { transaction } = storage;
    const calling = { transaction, accept: service.accept, history: stores.history, liveEvents, clock };
    startWork(node, campaignWork(calling, storage.work.campaigns), onError);
  }
  return { campaigns, wakeImport: announcer(node, 'contact-imports', onError) };
}

/** Returns what settles the contact of an ended call, which is told once the call's session is finalized. */
export function contactSettler(node: NodeContext) {
  const { storage, liveEvents, clock, onError } = node;
  const wake = announcer(node, KIND);
  const { calls, history } = storage.stores;
  const deps = { transaction: storage.transaction, history, wake, liveEvents, clock };
  storage.outbox.events.on('finalized', ({ projectId, callId, analysis }) => {
    if (callId === null || !analysis) return;
    calls
      .find(projectId, callId)
      .then((call) => call && announceFinished(deps, call))
      .catch((error: unknown) => onError(error, 'end of a contact not told'));
  });
  return (call: Call): Promise<void> => settleContact(deps, call);
}
