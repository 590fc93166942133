import { z } from 'zod';
import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { Usage } from '../../models/ports/chatModel.ts';
import type { SpeechToSpeechRequest } from '../../models/ports/speechToSpeech.ts';

/** The sample rate of the model's input. */
export const HEARD_RATE_HZ = 16_000;
/** The text that asks the model to speak when the person has said nothing. */
const YOUR_TURN = '[It is your turn to speak.]';

const transcription = z.object({ text: z.string().default('') });
const part = z.object({
  text: z.string().optional(),
  inlineData: z.object({ data: z.string() }).optional(),
});
const serverMessage = z.object({
  setupComplete: z.object({}).optional(),
  serverContent: z
    .object({
      modelTurn: z.object({ parts: z.array(part).default([]) }).optional(),
      inputTranscription: transcription.optional(),
      outputTranscription: transcription.optional(),
      interrupted: z.boolean().optional(),
      turnComplete: z.boolean().optional(),
    })
    .optional(),
  toolCall: z
    .object({
      functionCalls: z
        .array(
          z.object({ id: z.string(), name: z.string(), args: z.record(z.string(), z.unknown()).default({}) }),
        )
        .default([]),
    })
    .optional(),
  usageMetadata: z
    .object({
      promptTokenCount: z.number().default(0),
      toolUsePromptTokenCount: z.number().default(0),
      cachedContentTokenCount: z.number().default(0),
      responseTokenCount: z.number().default(0),
      thoughtsTokenCount: z.number().default(0),
      totalTokenCount: z.number().default(0),
    })
    .optional(),
  /** The server sends it when the connection ends soon. */
  goAway: z.object({}).optional(),
});

export type ServerMessage = z.infer<typeof serverMessage>;
export type ServerContent = NonNullable<ServerMessage['serverContent']>;

/** @throws {ZodError | SyntaxError} */
export function readServerMessage(text: string): ServerMessage {
  return serverMessage.parse(JSON.parse(text));
}

export interface LiveSetup {
  readonly model: string;
  readonly voice: string | undefined;
}

/** The first message of a connection; nothing of it can be changed afterwards. Callway detects turns. */
export function setupMessage(
  { model, voice }: LiveSetup,
  { instructions, tools }: SpeechToSpeechRequest,
): string {
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
    behavior: 'BLOCKING',
  }));
  return JSON.stringify({
    setup: {
      model: model.startsWith('models/') ? model : `models/${model}`,
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: voice ? { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } : undefined,
      },
      systemInstruction: { parts: [{ text: instructions }] },
      tools: tools.length > 0 ? [{ functionDeclarations }] : undefined,
      realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
      inputAudioTranscription: {},
      outputAudioTranscription: {},
      contextWindowCompression: { slidingWindow: {} },
    },
  });
}

export function audioMessage(samples: Uint8Array): string {
  const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('base64');
  return `{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=${HEARD_RATE_HZ}","data":"${data}"}}}`;
}

export const ACTIVITY_START = JSON.stringify({ realtimeInput: { activityStart: {} } });
export const ACTIVITY_END = JSON.stringify({ realtimeInput: { activityEnd: {} } });

/** @param isComplete - True when the model must answer. */
export function contentMessage(messages: readonly ChatMessage[], isComplete: boolean): string {
  const turns = messages.flatMap(turnsOf);
  if (isComplete && turns.at(-1)?.role !== 'user') turns.push(turn('user', YOUR_TURN));
  return JSON.stringify({ clientContent: { turns, turnComplete: isComplete } });
}

export function toolResponse(results: readonly { id: string; name: string; output: string }[]): string {
  const functionResponses = results.map(({ id, name, output }) => ({ id, name, response: { output } }));
  return JSON.stringify({ toolResponse: { functionResponses } });
}

/** Returns the turns of a message. Results of tools become text, since their calls may be of another connection. */
function turnsOf(message: ChatMessage) {
  switch (message.role) {
    case 'assistant':
      return message.content ? [turn('model', message.content)] : [];
    case 'tool':
      return [turn('user', `[A tool has answered: ${message.content}]`)];
    case 'system':
      return [turn('user', `[${message.content}]`)];
    case 'user':
      return [turn('user', message.content)];
  }
}

function turn(role: 'user' | 'model', text: string) {
  return { role, parts: [{ text }] };
}

export function usageOf(usage: NonNullable<ServerMessage['usageMetadata']>): Usage {
  return {
    promptTokens: usage.promptTokenCount + usage.toolUsePromptTokenCount,
    completionTokens: usage.responseTokenCount + usage.thoughtsTokenCount,
    totalTokens: usage.totalTokenCount,
    cachedTokens: usage.cachedContentTokenCount,
  };
}
