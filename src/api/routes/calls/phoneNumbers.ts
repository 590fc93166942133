import { invalid } from '../../../base/errors.ts';
import { requireNumber } from '../../../calls/numbers/number.ts';
import { isClaimVerified } from '../../../calls/numbers/numberClaim.ts';
import { phoneNumber, phoneNumberInput, phoneNumberPatch } from '../../../calls/numbers/phoneNumber.ts';
import { type CrudContext, crudRoutes } from '../../crud.ts';
import { principalOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { acceptMedia } from './mediaTarget.ts';

const ONE_OF_MANY = { limit: 1, offset: 0 };
const CLAIM =
  'A number belongs to one project: 409 `number_taken` while another one has it. Where the installation has several projects, the claim is pending until the operator verifies it.';

export function phoneNumberRoutes(app: App, deps: HttpDeps): void {
  /** Whether a claim of this request counts at once. */
  const isVerified = async ({ request, stores }: CrudContext) =>
    principalOf(request).kind === 'admin' ||
    isClaimVerified(deps.settings.numberOwnership, (await stores.projects.list(ONE_OF_MANY)).total);
  crudRoutes(app, deps, {
    tag: 'Trunks',
    noun: 'phone number',
    path: '/v1/projects/:projectId/phone-numbers',
    idParameter: 'phoneNumberId',
    schema: phoneNumber,
    allowsAdmin: true,
    quota: 'numbers',
    onChanged: () => deps.calls.trunksChanged(),
    list: { run: ({ stores, projectId }, page) => stores.phoneNumbers.list(projectId, page) },
    create: {
      auditAction: 'phone_number.created',
      description: `Stored and shown in E.164, whatever form it is given in. Without \`trunkIds\`, calls use any active trunk, by priority. ${CLAIM}`,
      body: phoneNumberInput.meta({
        id: 'NewPhoneNumber',
        examples: [{ number: '+886223456789', inboundEnabled: true }],
      }),
      async run(context, input) {
        const { stores, projectId, id, now } = context;
        const number = requireNumber(input.number, 'number');
        const media = acceptMedia(deps, input.media);
        await requireNode(context, input.startNodeId);
        const verified = await isVerified(context);
        return await stores.phoneNumbers.insert(projectId, id, { ...input, media, number, verified }, now);
      },
      auditDetails: ({ number, verified }) => ({ number, verified }),
    },
    get: { run: ({ stores, projectId, id }) => stores.phoneNumbers.find(projectId, id) },
    update: {
      auditAction: 'phone_number.updated',
      methods: ['PATCH'],
      description: `Only the supplied fields change. ${CLAIM}`,
      errors: [409],
      body: phoneNumberPatch.meta({ id: 'PhoneNumberPatch', examples: [{ outboundStatus: 'inactive' }] }),
      async run(context, input) {
        const { stores, projectId, id, now } = context;
        const { media: given, ...rest } = input;
        const patch = given === undefined ? rest : { ...rest, media: acceptMedia(deps, given) };
        await requireNode(context, patch.startNodeId);
        const before = await stores.phoneNumbers.find(projectId, id);
        const number = patch.number === undefined ? before?.number : requireNumber(patch.number, 'number');
        if (number === before?.number) return await stores.phoneNumbers.update(projectId, id, patch, now);
        const claim = { ...patch, number, verified: await isVerified(context) };
        return await stores.phoneNumbers.update(projectId, id, claim, now);
      },
    },
    remove: {
      auditAction: 'phone_number.deleted',
      run: ({ stores, projectId, id }) => stores.phoneNumbers.remove(projectId, id),
    },
  });
}

/** @throws {CallwayError} 400 `unknown_node` when the working copy of the pathway has no such node. */
async function requireNode(
  { stores, projectId }: CrudContext,
  nodeId: string | null | undefined,
): Promise<void> {
  if (nodeId == null) return;
  const pathway = await stores.pathways.find(projectId);
  if (pathway?.graph.nodes.some(({ id }) => id === nodeId)) return;
  const message = `The pathway has no node ${nodeId}`;
  throw invalid('unknown_node', message, [{ path: '/startNodeId', message }]);
}
