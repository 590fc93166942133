import { requireNumber } from '../../../calls/numbers/number.ts';
import { phoneNumber, phoneNumberInput, phoneNumberPatch } from '../../../calls/numbers/phoneNumber.ts';
import { crudRoutes } from '../../crud.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { requireAllowedTarget } from './mediaTarget.ts';

export function phoneNumberRoutes(app: App, deps: HttpDeps): void {
  crudRoutes(app, deps, {
    tag: 'Trunks',
    noun: 'phone number',
    path: '/v1/projects/:projectId/phone-numbers',
    idParameter: 'phoneNumberId',
    schema: phoneNumber,
    isAudited: true,
    onChanged: () => deps.calls.trunksChanged(),
    list: { run: ({ stores, projectId }, page) => stores.phoneNumbers.list(projectId, page) },
    create: {
      description:
        'Stored and shown in E.164, whatever form it is given in. Without `trunkIds`, calls use any active trunk, by priority.',
      body: phoneNumberInput.meta({
        id: 'NewPhoneNumber',
        examples: [{ number: '+886223456789', inboundEnabled: true }],
      }),
      async run({ stores, projectId, id, now }, input) {
        const number = requireNumber(input.number, 'number');
        requireAllowedTarget(input.media, deps.targetPolicy);
        return await stores.phoneNumbers.insert(projectId, id, { ...input, number }, now);
      },
      auditDetails: ({ number }) => ({ number }),
    },
    get: { run: ({ stores, projectId, id }) => stores.phoneNumbers.find(projectId, id) },
    update: {
      methods: ['PATCH'],
      description: 'Only the supplied fields change.',
      body: phoneNumberPatch.meta({ id: 'PhoneNumberPatch', examples: [{ outboundStatus: 'inactive' }] }),
      async run({ stores, projectId, id, now }, patch) {
        const number = patch.number === undefined ? {} : { number: requireNumber(patch.number, 'number') };
        requireAllowedTarget(patch.media, deps.targetPolicy);
        return await stores.phoneNumbers.update(projectId, id, { ...patch, ...number }, now);
      },
    },
    remove: { run: ({ stores, projectId, id }) => stores.phoneNumbers.remove(projectId, id) },
  });
}
