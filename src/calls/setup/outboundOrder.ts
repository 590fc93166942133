import { z } from 'zod';

import type { QuotaStore } from '../../agents/accounts/quotas.ts';
import { NUMBER_SYNTAX } from '../../base/values/e164.ts';
import { DEFAULT_MAX_DURATION_SECONDS, DEFAULT_RING_TIMEOUT_SECONDS } from '../call.ts';
import type { CallStore } from '../callStore.ts';
import { type CallMedia, callMediaInput } from '../numbers/callMedia.ts';

/** Carriers give up earlier. @see RFC 3261 section 16.6 item 11 (timer C) */
const MAX_RING_TIMEOUT_SECONDS = 300;
const MAX_CALL_SECONDS = 24 * 3600;
const MAX_NUMBER_LENGTH = 64;
export const MAX_EXTERNAL_ID_CHARACTERS = 255;
/** The session of a scheduled call runs on the agent as it was when the call was ordered. */
export const MAX_DAYS_AHEAD = 30;
/**
 * The most characters of an order's variables as JSON, and of its metadata. Lists show 200 calls, and an export all.
 */
const MAX_GIVEN_CHARACTERS = 32_768;

const number = z.string().max(MAX_NUMBER_LENGTH);
const givenValues = z
  .record(z.string(), z.unknown())
  .refine(
    (values) => JSON.stringify(values).length <= MAX_GIVEN_CHARACTERS,
    `{field} must have at most ${MAX_GIVEN_CHARACTERS} characters as JSON`,
  )
  .nullish();

/** Body fields of an outbound call request, on the current and the legacy path. */
export const outboundCallFields = {
  fromNumber: number
    .describe('A number of the project whose outbound status is active.')
    .meta({ example: '+886223456789' }),
  toNumber: number.describe(`The number to call: ${NUMBER_SYNTAX}.`).meta({ example: '0912345678' }),
  dynamicVariables: givenValues
    .describe('Variables of the call’s session, usable in the pathway.')
    .meta({ example: { name: 'Ada', guests: 2 } }),
  ringTimeoutSeconds: z.int().min(1).max(MAX_RING_TIMEOUT_SECONDS).default(DEFAULT_RING_TIMEOUT_SECONDS),
  maxDurationSeconds: z.int().min(1).max(MAX_CALL_SECONDS).default(DEFAULT_MAX_DURATION_SECONDS),
  record: z
    .boolean()
    .nullish()
    .describe('Default: as the number says, else the agent’s `recording.outbound`.'),
  media: callMediaInput.nullish().describe('Sends the audio to your own bot instead of to the agent.'),
  detectAnsweringMachine: z
    .boolean()
    .default(true)
    .describe('Tell a person from a machine or a call screener; the result is `answeringMachine`.'),
  metadata: givenValues.describe('Returned with the call, in its webhooks, and to your own bot.'),
  externalId: z
    .string()
    .min(1)
    .max(MAX_EXTERNAL_ID_CHARACTERS)
    .nullish()
    .describe(
      'Your own id of the call, which need not be unique. Returned with the call and in its webhooks.',
    )
    .meta({ example: 'order-4711' }),
  notBefore: z.iso
    .datetime({ offset: true })
    .nullish()
    .describe(
      `Schedules the call: it is placed then, and is \`scheduled\` until then. At most ${MAX_DAYS_AHEAD} days ahead; a time that has passed means now.`,
    )
    .meta({ example: '2026-12-01T14:30:00+08:00' }),
};

const orderSchema = z.object(outboundCallFields);

export type OutboundOrderInput = z.output<typeof orderSchema>;

export interface OutboundOrder extends Omit<OutboundOrderInput, 'media'> {
  readonly projectId: string;
  readonly media?: CallMedia | null | undefined;
  /** Use the agent's draft instead of its current release. */
  readonly draft: boolean;
  /** The campaign and its contact that the call is placed for. */
  readonly campaign?: { readonly campaignId: string; readonly contactId: string };
  /** @see CallSettings.isCallback */
  readonly isCallback?: boolean;
  /** The trace context of the HTTP request. */
  readonly traceparent?: string | undefined;
}

export const acceptedCall = z.object({
  success: z.literal(true),
  callId: z.uuid(),
  sessionId: z.string(),
});
export type AcceptedCall = z.infer<typeof acceptedCall>;

export interface OrderStores {
  readonly calls: CallStore;
  readonly quotas: QuotaStore;
}

/** Runs the insert in a transaction. For a repeated request it inserts nothing and returns the earlier answer. */
export type InsertOnce = (insert: (stores: OrderStores) => Promise<AcceptedCall>) => Promise<AcceptedCall>;
