import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import { requireNumber } from '../../../calls/numbers/number.ts';
import {
  type PhoneNumber,
  phoneNumber,
  phoneNumberInput,
  phoneNumberPatch,
} from '../../../calls/numbers/phoneNumber.ts';
import type { App } from '../../app.ts';
import { audit } from '../../audit.ts';
import { createOnce } from '../../idempotency.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../../schemas.ts';
import { requireReachable } from './mediaTarget.ts';

const BASE = '/v1/projects/:projectId/phone-numbers';
const numberParams = projectParams.extend({ phoneNumberId: z.string() });
const read = { access: { kind: 'project', scope: 'read' } } as const;
const write = { access: { kind: 'project', scope: 'write' } } as const;

export function phoneNumberRoutes(app: App, deps: HttpDeps): void {
  registerReads(app, deps);
  registerCreation(app, deps);
  registerChanges(app, deps);
}

function registerReads(app: App, { storage }: HttpDeps): void {
  const { phoneNumbers } = storage.stores;

  app.get(
    BASE,
    {
      config: read,
      schema: {
        ...about('Trunks', 'List the phone numbers'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(phoneNumber), ...errors() },
      },
    },
    async ({ params, query }) => listAnswer(await phoneNumbers.list(params.projectId, query), query),
  );

  app.get(
    `${BASE}/:phoneNumberId`,
    {
      config: read,
      schema: {
        ...about('Trunks', 'Get a phone number'),
        params: numberParams,
        response: { 200: phoneNumber, ...errors() },
      },
    },
    async ({ params }) => found(await phoneNumbers.find(params.projectId, params.phoneNumberId)),
  );
}

function registerCreation(app: App, deps: HttpDeps): void {
  app.post(
    BASE,
    {
      config: write,
      schema: {
        ...about(
          'Trunks',
          'Create a phone number',
          'Kept and shown in E.164, however it was written. Without `trunkIds`, calls take any active trunk by priority.',
        ),
        params: projectParams,
        body: phoneNumberInput.meta({
          id: 'NewPhoneNumber',
          examples: [{ number: '+886223456789', inboundEnabled: true }],
        }),
        response: { 201: phoneNumber, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      const created = await createOnce(deps, request, reply, { status: 201 }, async (stores) => {
        const number = requireNumber(request.body.number, 'number');
        requireReachable(request.body.media, deps.egressPolicy);
        const id = deps.makeId();
        const kept = await stores.phoneNumbers.insert(projectId, id, { ...request.body, number }, now(deps));
        await audit(deps, stores, request, {
          action: 'phone_number.created',
          projectId,
          target: id,
          details: { number },
        });
        return kept;
      });
      await deps.calls.trunksChanged();
      return created;
    },
  );
}

function registerChanges(app: App, deps: HttpDeps): void {
  const { storage, calls } = deps;

  app.patch(
    `${BASE}/:phoneNumberId`,
    {
      config: write,
      schema: {
        ...about('Trunks', 'Change a phone number', 'Only the supplied fields change.'),
        params: numberParams,
        body: phoneNumberPatch.meta({ id: 'PhoneNumberPatch', examples: [{ outboundStatus: 'inactive' }] }),
        response: { 200: phoneNumber, ...errors('body') },
      },
    },
    async (request) => {
      const { projectId, phoneNumberId } = request.params;
      const { number } = request.body;
      const patch = {
        ...request.body,
        ...(number === undefined ? {} : { number: requireNumber(number, 'number') }),
      };
      requireReachable(patch.media, deps.egressPolicy);
      const updated = await storage.transaction(async (stores) => {
        const changed = found(await stores.phoneNumbers.update(projectId, phoneNumberId, patch, now(deps)));
        await audit(deps, stores, request, {
          action: 'phone_number.updated',
          projectId,
          target: phoneNumberId,
          details: { changed: Object.keys(request.body) },
        });
        return changed;
      });
      await calls.trunksChanged();
      return updated;
    },
  );

  app.delete(
    `${BASE}/:phoneNumberId`,
    {
      config: write,
      schema: {
        ...about('Trunks', 'Delete a phone number'),
        params: numberParams,
        response: { 204: noContent, ...errors() },
      },
    },
    async (request, reply) => {
      const { projectId, phoneNumberId: target } = request.params;
      await storage.transaction(async (stores) => {
        if (!(await stores.phoneNumbers.remove(projectId, target))) throw notFound('Phone number');
        await audit(deps, stores, request, { action: 'phone_number.deleted', projectId, target });
      });
      await calls.trunksChanged();
      return await reply.code(204).send(null);
    },
  );
}

const now = ({ clock }: HttpDeps) => new Date(clock.now()).toISOString();

function found(one: PhoneNumber | undefined): PhoneNumber {
  if (!one) throw notFound('Phone number');
  return one;
}
