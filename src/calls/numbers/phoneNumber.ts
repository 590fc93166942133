import { z } from 'zod';

import { RESERVED_VARIABLES, variableName } from '../../agents/fields.ts';
import { idSchema, refuseUnstorable } from '../../agents/pathway/schema/fields.ts';
import { type CallMedia, callMedia, callMediaInput } from './callMedia.ts';

const fields = {
  number: z
    .string()
    .min(3)
    .max(32)
    .describe('E.164, or a Taiwan number in local form.')
    .meta({ example: '+886223456789' }),
  trunkIds: z.array(z.uuid()).max(20).describe('In the order in which they are tried.'),
  outboundStatus: z.enum(['active', 'inactive']),
  inboundEnabled: z.boolean(),
  record: z
    .boolean()
    .nullable()
    .describe('Whether calls of the number are recorded, unless the call says; null: as the agent says.'),
  noiseSuppression: z
    .boolean()
    .nullable()
    .describe(
      'Whether noise is removed from what the agent’s speech recognition hears; null: as the agent says.',
    ),
  media: callMediaInput.nullable(),
  startNodeId: idSchema
    .nullable()
    .describe('The node of the pathway where inbound calls to the number begin; by default its start.'),
  variables: z
    .record(variableName, z.unknown())
    .superRefine(refuseUnstorable)
    .describe('Variables that inbound calls to the number begin with.')
    .meta({ example: { line: 'sales' } }),
};
const settableVariables = fields.variables.refine(
  (variables) => !RESERVED_VARIABLES.some((name) => Object.hasOwn(variables, name)),
  'must not have call or channel, which the service sets',
);

export const phoneNumberInput = z.strictObject({
  ...fields,
  trunkIds: fields.trunkIds.default([]),
  outboundStatus: fields.outboundStatus.default('active'),
  inboundEnabled: fields.inboundEnabled.default(false),
  record: fields.record.default(null),
  noiseSuppression: fields.noiseSuppression.default(null),
  media: fields.media.default(null),
  startNodeId: fields.startNodeId.default(null),
  variables: settableVariables.default({}),
});
export const phoneNumberPatch = z.strictObject({ ...fields, variables: settableVariables }).partial();
export const phoneNumber = z
  .object({
    id: z.uuid(),
    ...fields,
    media: callMedia.nullable(),
    verified: z
      .boolean()
      .describe(
        'False while the claim is pending: the number places calls and takes none until the operator verifies it.',
      ),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'PhoneNumber' });

type WithMedia<Given extends { media?: unknown }> = Omit<Given, 'media'> & {
  [Key in keyof Pick<Given, 'media'>]: CallMedia | null;
};
/** The input with sealed secrets, as it is stored. */
export type PhoneNumberInput = WithMedia<z.output<typeof phoneNumberInput>>;
export type PhoneNumberPatch = WithMedia<z.output<typeof phoneNumberPatch>>;
export type PhoneNumber = WithMedia<z.infer<typeof phoneNumber>>;
