import { z } from 'zod';

const milliseconds = z.number();

const latencyParts = z.object({
  bufferMs: milliseconds,
  endpointingMs: milliseconds,
  transcriptionMs: milliseconds,
  answerMs: milliseconds,
  speechMs: milliseconds,
  playoutMs: milliseconds,
});

const message = z.object({
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.string().nullable(),
  latencyMs: milliseconds.optional(),
  latencyParts: latencyParts.optional(),
  interrupted: z.boolean().optional(),
});

/** The part of a session's history that the demo reads. */
export const historySchema = z.object({
  messages: z.array(message),
  call: z.object({
    status: z.string(),
    endReason: z.string().nullable(),
    durationMs: milliseconds.nullable(),
    sip: z.object({ code: z.int(), reason: z.string() }).nullable(),
    mediaFigures: z
      .object({
        codec: z.string(),
        packetsReceived: z.int(),
        packetsLost: z.int(),
        mos: z.number().nullable(),
      })
      .nullable(),
    recording: z
      .object({
        status: z.string(),
        durationMs: milliseconds.nullable(),
        error: z.string().nullable(),
        url: z.string().optional(),
      })
      .nullable(),
  }),
});

export type History = z.infer<typeof historySchema>;
export type HistoryMessage = History['messages'][number];

const HEADINGS = [
  'answer to',
  'total',
  'jitter buffer',
  'end of turn',
  'words',
  'answer',
  'speech',
  'playout',
];

/** Returns one row in milliseconds for each agent turn with a latency, below a row of headings. */
export function latencyTable(messages: readonly HistoryMessage[]): string[][] {
  let asked: string | null = null;
  const rows = messages.flatMap(({ role, content, latencyMs, latencyParts: parts }) => {
    if (role === 'user') asked = content;
    if (role !== 'assistant' || latencyMs === undefined || !parts) return [];
    const { bufferMs, endpointingMs, transcriptionMs, answerMs, speechMs, playoutMs } = parts;
    const figures = [latencyMs, bufferMs, endpointingMs, transcriptionMs, answerMs, speechMs, playoutMs];
    return [
      [asked === null ? 'greeting' : `“${asked}”`, ...figures.map((figure) => String(Math.round(figure)))],
    ];
  });
  return [HEADINGS, ...rows];
}

export function transcriptText(messages: readonly HistoryMessage[]): string {
  return messages
    .filter(({ role }) => role !== 'tool')
    .map(({ role, content, interrupted }) => {
      const who = role === 'assistant' ? 'Agent ' : 'Callee';
      return `${who}  ${oneLine(content)}${interrupted ? ' …' : ''}\n`;
    })
    .join('');
}

/** Messages of several nodes contain line breaks. */
export function oneLine(content: string | null): string {
  return (content ?? '').replace(/\s+/g, ' ').trim();
}
