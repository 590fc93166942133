import { z } from 'zod';
import { variableName } from '../../agents/fields.ts';
import {
  TRANSFER_MODES,
  type TransferOptions,
  targetsOf,
  transferObjections,
  transferRequest,
} from '../../agents/transferOptions.ts';
import { type TransferTarget, targetWithTrunk } from '../../agents/transferTarget.ts';
import type { ToolDefinition } from '../../models/ports/toolDefinition.ts';
import type { CallbackArguments } from './scheduleCallback.ts';
import { parseArguments } from './toolRunner.ts';

const MAX_DIGITS = 32;
const MAX_REASON_LENGTH = 500;

/** A parsed call of a built-in tool. */
export type BuiltInCall =
  | { readonly kind: 'end_call' }
  | {
      readonly kind: 'transfer';
      /** The targets, at least one. */
      readonly targets: readonly TransferTarget[];
      readonly options: TransferOptions;
    }
  | { readonly kind: 'send_dtmf'; readonly digits: string }
  | { readonly kind: 'query_knowledgebase'; readonly query: string }
  | { readonly kind: 'set_variable'; readonly name: string; readonly value: unknown }
  | ({ readonly kind: 'schedule_callback' } & CallbackArguments)
  | { readonly kind: 'opt_out'; readonly reason: string | undefined }
  | { readonly kind: 'refused'; readonly reason: string };

const text = { type: 'string' } as const;
const objectOf = (
  properties: Readonly<Record<string, unknown>>,
  optional: Readonly<Record<string, unknown>> = {},
) => ({
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
  additionalProperties: false,
});

/** The tools that every project has, as a model is shown them. */
export const BUILT_IN_DEFINITIONS: Readonly<Record<string, ToolDefinition>> = {
  end_call: {
    name: 'end_call',
    description: 'Ends the conversation, after your farewell.',
    parameters: objectOf({}),
  },
  transfer_call: {
    name: 'transfer_call',
    description: 'Connects the person to someone else.',
    parameters: {
      ...objectOf({
        to: { ...text, description: 'Phone number or SIP address.' },
        targets: {
          type: 'array',
          items: text,
          description: 'In place of to: several, called in order, or at once by strategy.',
        },
        mode: {
          ...text,
          enum: TRANSFER_MODES,
          description: 'blind (default) connects at once; warm tells them first who is calling and why.',
        },
        announce: { ...text, description: 'For warm: what they are told. Default: a summary.' },
        acceptBy: { ...text, enum: ['answer', 'digit', 'speech'], description: 'For warm.' },
        acceptDigit: { ...text, description: 'For warm with digit. Default: 1.' },
        timeoutSeconds: { type: 'integer', description: 'For each of them. Default: 30.' },
        strategy: { ...text, enum: ['sequential', 'simultaneous'] },
        holdMusic: {
          description: 'default, none, or a file of the project.',
          anyOf: [
            { ...text, enum: ['default', 'none'] },
            { type: 'object', properties: { mediaId: text }, required: ['mediaId'] },
          ],
        },
        afterJoin: { ...text, enum: ['leave', 'listen'], description: 'leave (default), or take notes.' },
        trunkId: { ...text, description: 'Only one that you were told: the trunk that calls them.' },
      }),
      required: [],
    },
  },
  send_dtmf: {
    name: 'send_dtmf',
    description: 'Presses keys of the telephone.',
    parameters: objectOf({ digits: { ...text, description: '0-9, A-D, * and #.' } }),
  },
  query_knowledgebase: {
    name: 'query_knowledgebase',
    description: 'Searches the documents for facts.',
    parameters: objectOf({ query: text }),
  },
  set_variable: {
    name: 'set_variable',
    description: 'Notes a fact for the rest of the conversation.',
    parameters: objectOf({ name: text, value: { description: 'Any JSON value.' } }),
  },
  schedule_callback: {
    name: 'schedule_callback',
    description: 'Calls the person back at a later time, in place of a callback that was scheduled before.',
    parameters: objectOf(
      {
        atLocalTime: {
          ...text,
          description: 'Date and time on the person’s own clock, such as 2026-11-24T15:00, without a zone.',
        },
      },
      { reason: { ...text, description: 'What the call will be about.' } },
    ),
  },
  opt_out: {
    name: 'opt_out',
    description: 'For a person who wants no more calls: their number is never called again.',
    parameters: objectOf({}, { reason: { ...text, description: 'What they said.' } }),
  },
};

const schemas = {
  transfer_call: z.object({
    ...transferRequest.shape,
    to: targetWithTrunk(z.string().min(1).max(256)).optional(),
  }),
  send_dtmf: z.object({
    digits: z
      .string()
      .regex(/^[0-9A-D*#]+$/)
      .max(MAX_DIGITS),
  }),
  query_knowledgebase: z.object({ query: z.string().min(1).max(2000) }),
  set_variable: z.object({ name: variableName, value: z.json() }),
  schedule_callback: z.object({
    atLocalTime: z.string().max(64),
    reason: z.string().max(MAX_REASON_LENGTH).nullish(),
  }),
  opt_out: z.object({ reason: z.string().max(MAX_REASON_LENGTH).nullish() }),
};

/** Parses a model's call of a built-in tool. */
export function readBuiltInCall(name: string, argumentsText: string): BuiltInCall {
  const args = parseArguments(argumentsText);
  if (!args) return { kind: 'refused', reason: 'The arguments are not a JSON object' };
  switch (name) {
    case 'end_call':
      return { kind: 'end_call' };
    case 'transfer_call':
      return read(schemas.transfer_call, args, readTransfer);
    case 'send_dtmf':
      return read(schemas.send_dtmf, args, ({ digits }) => ({ kind: 'send_dtmf', digits }));
    case 'query_knowledgebase':
      return read(schemas.query_knowledgebase, args, ({ query }) => ({ kind: 'query_knowledgebase', query }));
    case 'set_variable':
      return read(schemas.set_variable, args, ({ name: variable, value }) => ({
        kind: 'set_variable',
        name: variable,
        value,
      }));
    case 'schedule_callback':
      return read(schemas.schedule_callback, args, ({ atLocalTime, reason = null }) => ({
        kind: 'schedule_callback',
        atLocalTime: atLocalTime.trim(),
        reason,
      }));
    case 'opt_out':
      return read(schemas.opt_out, args, ({ reason }) => ({ kind: 'opt_out', reason: reason || undefined }));
    default:
      return { kind: 'refused', reason: `There is no tool named ${name}` };
  }
}

function readTransfer({ to, targets, ...options }: z.output<typeof schemas.transfer_call>): BuiltInCall {
  const all = targetsOf({ to, targets, trunkId: options.trunkId });
  if (!all) return { kind: 'refused', reason: 'Give either to or targets' };
  const [objection] = transferObjections(options);
  if (objection) return { kind: 'refused', reason: objection.message };
  return { kind: 'transfer', targets: all, options };
}

function read<Args>(schema: z.ZodType<Args>, value: unknown, make: (args: Args) => BuiltInCall): BuiltInCall {
  const parsed = schema.safeParse(value);
  return parsed.success
    ? make(parsed.data)
    : { kind: 'refused', reason: 'The arguments do not fit the tool' };
}
