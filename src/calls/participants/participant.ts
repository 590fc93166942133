import { z } from 'zod';

/** The most participants beside the caller and the agent. */
export const MAX_PARTICIPANTS = 6;

/** The actions in the history. Live events have all of them except the dialing. */
export const PARTICIPANT_ACTIONS = ['dialing', 'joined', 'left', 'changed'] as const;
export type ParticipantAction = (typeof PARTICIPANT_ACTIONS)[number];
export type ReportedAction = Exclude<ParticipantAction, 'dialing'>;

/** A person who was added to a call in progress, in the API and between nodes. */
export const participantResource = z
  .object({
    id: z.uuid(),
    to: z.string().describe('A number, or a SIP URI.').meta({ example: '+886223456789' }),
    status: z.enum(['dialing', 'ringing', 'joined']),
    muted: z.boolean().describe('They are not heard.'),
    held: z.boolean().describe('They hear music, and are not heard.'),
    joinedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Participant' });

export type Participant = z.infer<typeof participantResource>;

export interface ParticipantChange {
  readonly muted?: boolean | undefined;
  readonly held?: boolean | undefined;
}
