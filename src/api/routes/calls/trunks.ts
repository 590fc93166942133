import { secretNeededAgain } from '../../../agents/fields.ts';
import { omitUndefined } from '../../../base/values/omitUndefined.ts';
import { mapPage } from '../../../base/values/page.ts';
import { requireOwnNetworks } from '../../../calls/trunks/sourceNetwork.ts';
import {
  requirePublicHosts,
  requireUsableTrunk,
  type Trunk,
  type TrunkHealth,
  trunkInput,
  trunkPatch,
  trunkResource,
} from '../../../calls/trunks/trunk.ts';
import { type CrudContext, crudRoutes } from '../../crud.ts';
import { principalOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';

const UNKNOWN_HEALTH: TrunkHealth = {
  reachable: null,
  registered: null,
  lastOptionsMs: null,
  channelsInUse: 0,
  error: null,
};
const EXAMPLE = {
  name: 'Carrier',
  host: 'sip.example.com',
  username: 'callway',
  password: 'secret',
  register: true,
};

const OPERATORS =
  '403 `cidr_needs_operator` for a network wider than /16 (IPv4) or /32 (IPv6), or one that overlaps another project’s, 403 `private_trunk_needs_operator` for a private host where the installation asks for public ones: the operator can add it.';

/** The fields that locate a trunk: the operator's grant is for this place. */
const PLACE = ['host', 'port', 'outboundProxy'] as const;
/** The fields that decide where the trunk's password is sent. */
const PASSWORD_PLACE = [...PLACE, 'transport'] as const;

export function trunkRoutes(app: App, deps: HttpDeps): void {
  const {
    calls,
    sessions: { liveEvents },
  } = deps;
  const tell = (projectId: string, trunkId: string, change: 'created' | 'updated' | 'deleted') =>
    liveEvents.publish({ type: 'trunk.changed', projectId, data: { trunkId, change } });
  const withHealth = async (trunk: Trunk) => show(trunk, (await calls.trunkHealth([trunk.id])).get(trunk.id));
  crudRoutes(app, deps, {
    tag: 'Trunks',
    noun: 'trunk',
    path: '/v1/projects/:projectId/trunks',
    idParameter: 'trunkId',
    schema: trunkResource,
    allowsAdmin: true,
    quota: 'trunks',
    onChanged: () => calls.trunksChanged(),
    list: {
      description: 'With their health as last reported; without their passwords.',
      async run({ stores, projectId }, page) {
        const found = await stores.trunks.list(projectId, page);
        const health = await calls.trunkHealth(found.items.map(({ id }) => id));
        return mapPage(found, (trunk) => show(trunk, health.get(trunk.id)));
      },
    },
    create: {
      auditAction: 'trunk.created',
      description: `The password is stored encrypted and never shown. ${OPERATORS}`,
      body: trunkInput.meta({ id: 'NewTrunk', examples: [EXAMPLE] }),
      async run(context, input) {
        const { stores, projectId, id, now } = context;
        requireUsableTrunk(input);
        await requireTenantsNetworks(context, input.inboundCidrs);
        const host = hostGrant(context, deps.settings, input);
        return show(await stores.trunks.insert(projectId, id, { ...input, ...host }, now), undefined);
      },
      auditDetails: ({ name, host }) => ({ name, host }),
      async onSaved(trunk, projectId) {
        tell(projectId, trunk.id, 'created');
        return trunk;
      },
    },
    get: {
      async run({ stores, projectId, id }) {
        const trunk = await stores.trunks.find(projectId, id);
        return trunk && (await withHealth(trunk));
      },
    },
    update: {
      auditAction: 'trunk.updated',
      methods: ['PATCH'],
      description: `Only the supplied fields change; \`password: null\` removes it, and another host, port, transport or outbound proxy needs it again: 400 \`secret_needed_again\`. ${OPERATORS}`,
      body: trunkPatch.meta({ id: 'TrunkPatch', examples: [{ status: 'inactive' }] }),
      async run(context, patch) {
        const { stores, projectId, id, now } = context;
        const before = await stores.trunks.find(projectId, id);
        const known = new Set(before?.inboundCidrs);
        await requireTenantsNetworks(
          context,
          patch.inboundCidrs?.filter((network) => !known.has(network)),
        );
        const changes = (name: (typeof PASSWORD_PLACE)[number]) =>
          patch[name] !== undefined && patch[name] !== before?.[name];
        const isMoved = before && PLACE.some(changes);
        if (before?.password && patch.password === undefined && PASSWORD_PLACE.some(changes))
          throw secretNeededAgain('/password', 'the password');
        const host = isMoved ? hostGrant(context, deps.settings, { ...before, ...omitUndefined(patch) }) : {};
        const trunk = await stores.trunks.update(projectId, id, { ...patch, ...host }, now);
        if (!trunk) return undefined;
        requireUsableTrunk(trunk);
        return await withHealth(trunk);
      },
      async onSaved(trunk, projectId) {
        tell(projectId, trunk.id, 'updated');
        return trunk;
      },
    },
    remove: {
      auditAction: 'trunk.deleted',
      description: 'A trunk that a phone number names cannot be deleted: 409.',
      errors: [409],
      run: async ({ stores, projectId, id }) =>
        (await stores.trunks.remove(projectId, id)) && { projectId, id },
      async onRemoved({ projectId, id }) {
        tell(projectId, id, 'deleted');
      },
    },
  });
}

/** A trunk that the operator places may be private; the tenant's must be public where the settings say so. */
function hostGrant(
  { request }: CrudContext,
  { allowsPrivateTrunks = true }: HttpDeps['settings'],
  trunk: Parameters<typeof requirePublicHosts>[0],
): { readonly hasPrivateHost: boolean } {
  const isOperator = principalOf(request).kind === 'admin';
  if (!isOperator && !allowsPrivateTrunks) requirePublicHosts(trunk);
  return { hasPrivateHost: isOperator };
}

/** Networks that reach beyond the project are the operator's to add. @throws {CallwayError} 403 `cidr_needs_operator` */
async function requireTenantsNetworks(
  { request, stores, projectId }: CrudContext,
  added: readonly string[] = [],
): Promise<void> {
  if (added.length === 0 || principalOf(request).kind === 'admin') return;
  requireOwnNetworks(added, await stores.trunks.foreignNetworks(projectId));
}

function show(
  { projectId: _project, hasPrivateHost: _granted, password, ...trunk }: Trunk,
  health: TrunkHealth | undefined,
) {
  return { ...trunk, hasPassword: password !== null, health: health ?? UNKNOWN_HEALTH };
}
