import { z } from 'zod';

export const REJECTION_REASONS = [
  'unknown_source',
  'unknown_number',
  'number_inactive',
  'bad_request',
  'media_not_acceptable',
  'overloaded',
  'auth_failed',
  'declined_by_agent',
] as const;

/** An inbound call that was refused, in the API. */
export const sipRejection = z
  .object({
    at: z.iso.datetime(),
    reason: z
      .enum(REJECTION_REASONS)
      .describe(
        '`unknown_source`: no active trunk has this address. `auth_failed`: nor has it, and the peer sent credentials; peers are known by address alone. `unknown_number`: no number of the trunk’s project that this trunk reaches. `number_inactive`: its `inboundEnabled` is false, or its claim is not verified. `overloaded`: a limit of the trunk, the project or the node, or a part of Callway that is away. `declined_by_agent`: by the agent’s `beforeStartConfig`.',
      ),
    status: z.int().describe('The SIP response.').meta({ example: 404 }),
    source: z.string().meta({ example: '192.0.2.10:5060' }),
    from: z.string().describe('Without its middle digits.').meta({ example: '+886******78' }),
    to: z.string().describe('As the INVITE has it; E.164 where it is a number.'),
    callId: z.string().describe('The Call-ID header.'),
    trunkId: z.uuid().optional().describe('Absent where no trunk of one project has the source.'),
  })
  .meta({ id: 'SipRejection' });

export type SipRejection = z.output<typeof sipRejection>;
export type RejectionReason = SipRejection['reason'];

/** A rejection, with the project that its trunk or number belongs to. */
export interface ReportedRejection extends SipRejection {
  readonly projectId: string | undefined;
}

/** The latest rejections of each project and of the installation, from all nodes. */
export interface SipRejectionStore {
  add(rejections: readonly ReportedRejection[]): Promise<void>;
  /** The newest first. @param projectId - Undefined: of the whole installation. */
  list(projectId: string | undefined, limit: number): Promise<SipRejection[]>;
}
