import type { MakeId } from '../../base/values/ids.ts';
import type { ChatProvider } from '../../models/chat/chatClient.ts';
import { Refusals, type RefusalsOptions } from '../../models/chat/refusals.ts';
import { eventData } from '../../models/http/serverSentEvents.ts';
import { OPENAI_EMBEDDING_MODELS } from '../../models/ports/embedder.ts';
import { requireCredentials } from '../../models/ports/modelError.ts';
import {
  COMPATIBLE_TRANSCRIPTION_MODEL,
  OPENAI_REALTIME_MODEL,
  OPENAI_TRANSCRIPTION_MODEL,
  OPENAI_VOICE,
  speechModel,
  transcriptionModel,
} from '../../models/ports/speechModels.ts';
import type { SpeechToSpeech } from '../../models/ports/speechToSpeech.ts';
import type { SpeechToText } from '../../models/ports/speechToText.ts';
import type { StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';
import type { Synthesizer } from '../../models/ports/synthesizer.ts';
import type {
  ChatOptions,
  EmbeddingProvider,
  ProviderOptions,
  SpeechToSpeechOptions,
  SpeechToTextOptions,
  TextToSpeechOptions,
} from '../../models/providerOptions.ts';
import { vendorRecognizerDeps } from '../../models/recognition/socketRecognizer.ts';
import { createDial } from '../../models/sockets/dial.ts';
import { vendorSynthesizerDeps } from '../../models/synthesis/socketSynthesizer.ts';
import { type ChatBody, chatBody } from './chatBody.ts';
import { ChatDecoder } from './chatDecoder.ts';
import { createOpenAiEmbedder } from './embedder.ts';
import { createOpenAiEndpoint, OPENAI_BASE_URL, type OpenAiEndpoint, withVersion } from './endpoint.ts';
import { REMEDIES, REQUIRED_FIELDS, refusalOf, toModelError } from './errors.ts';
import { createReadAloud, readsAloud } from './realtime/readAloud.ts';
import { createRealtimeSpeech } from './realtime/speechToSpeech.ts';
import { createOpenAiRealtimeSpeechToText } from './realtimeSpeechToText.ts';
import { createOpenAiSpeechToText } from './speechToText.ts';
import { createOpenAiTextToSpeech } from './textToSpeech.ts';

export const GOOGLE_BASE_URL = 'https://generativelanguage.googleapis.com';
export const GOOGLE_PATH = '/v1beta/openai';

export interface OpenAiChatDeps {
  readonly endpoint: OpenAiEndpoint;
  /** Makes ids for tool calls that the endpoint sent without one. */
  readonly makeId: MakeId;
  /** Reports each parameter that a model refuses, once. */
  readonly onRefused: RefusalsOptions<ChatBody>['onLearned'];
  /** The name of another vendor with the same API. Default: OpenAI's. */
  readonly name?: string;
  /** Adapts the request body to that vendor. */
  readonly adapt?: (body: ChatBody) => ChatBody;
}

export function createChat({ credentials, makeId, onRefused, guard }: ChatOptions): ChatProvider {
  return createOpenAiChat({ endpoint: createOpenAiEndpoint({ ...credentials, guard }), makeId, onRefused });
}

/**
 * A model behind an OpenAI-compatible chat completions endpoint.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function createOpenAiChat({
  endpoint,
  makeId,
  onRefused,
  name = 'openai',
  adapt = (body) => body,
}: OpenAiChatDeps): ChatProvider {
  const { client } = endpoint;
  const refusals = new Refusals<ChatBody>({
    remedies: REMEDIES,
    required: REQUIRED_FIELDS,
    refusalOf,
    redact: endpoint.redact,
    onLearned: onRefused,
  });
  return {
    name,
    async open(request, signal) {
      const response = await refusals.send(adapt(chatBody(request, endpoint.host)), (body) =>
        client.chat.completions.create(body, { signal }).asResponse(),
      );
      return new ChatDecoder(await eventData(response), { endpoint, makeId, requestedModel: request.model });
    },
    toModelError: (error, beforeFirstToken) => toModelError(error, endpoint, beforeFirstToken),
    close: () => endpoint.close(),
  };
}

/**
 * Gemini by its OpenAI-compatible endpoint, which has all that a conversation needs: streams, tools, JSON schemas and
 * reasoning effort. It tells no signatures of thoughts beside tool calls, which newer models want back.
 */
export function createGoogleChat({ credentials, makeId, onRefused, guard }: ChatOptions): ChatProvider {
  const { apiKey, baseUrl = GOOGLE_BASE_URL } = credentials;
  const endpoint = createOpenAiEndpoint({ apiKey, baseUrl, path: GOOGLE_PATH, guard });
  return createOpenAiChat({ endpoint, makeId, onRefused, name: 'google', adapt: withThoughtSignatures });
}

/** @see https://ai.google.dev/gemini-api/docs/thought-signatures */
function withThoughtSignatures(body: ChatBody): ChatBody {
  const signature = { google: { thought_signature: 'skip_thought_signature_validator' } };
  const messages = body.messages.map((message) =>
    message.role === 'assistant' && message.tool_calls
      ? { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, extra_content: signature })) }
      : message,
  );
  return { ...body, messages };
}

/** Creates a recognizer for the batch endpoint. */
export function createSpeechToText(options: SpeechToTextOptions): SpeechToText {
  const { credentials, guard } = options;
  const { model = transcriptionModel(credentials.baseUrl) } = options;
  const endpoint = createOpenAiEndpoint({ ...credentials, guard });
  return createOpenAiSpeechToText({ ...options, model, endpoint });
}

/** Creates a recognizer for Realtime transcription sessions. */
export function createStreamingSpeechToText(options: SpeechToTextOptions): StreamingSpeechToText {
  return createOpenAiRealtimeSpeechToText(vendorRecognizerDeps(options));
}

export function createTextToSpeech(options: TextToSpeechOptions): Synthesizer {
  const { voice = OPENAI_VOICE, credentials, guard } = options;
  const { model = speechModel(credentials.baseUrl) } = options;
  if (readsAloud(model)) {
    const deps = vendorSynthesizerDeps(options, OPENAI_BASE_URL);
    return createReadAloud({ ...deps, baseUrl: withVersion(deps.baseUrl), model, voice });
  }
  const endpoint = createOpenAiEndpoint({ ...credentials, guard });
  return createOpenAiTextToSpeech({ ...options, model, voice, endpoint });
}

/** @throws {ModelError} When there is neither a key nor an address. */
export function createSpeechToSpeech(options: SpeechToSpeechOptions): SpeechToSpeech {
  return realtimeSpeech('openai-realtime', OPENAI_TRANSCRIPTION_MODEL, options);
}

/** A server of one's own that speaks the same protocol. @throws {ModelError} When it has no address. */
export function createCustomSpeechToSpeech(options: SpeechToSpeechOptions): SpeechToSpeech {
  const { baseUrl } = options.credentials;
  requireCredentials('custom', baseUrl);
  return realtimeSpeech('custom', COMPATIBLE_TRANSCRIPTION_MODEL, options);
}

function realtimeSpeech(
  name: string,
  transcriptionModel: string,
  { credentials, model = OPENAI_REALTIME_MODEL, voice, clock, guard }: SpeechToSpeechOptions,
): SpeechToSpeech {
  const { apiKey, baseUrl } = credentials;
  requireCredentials(name, apiKey ?? baseUrl);
  return createRealtimeSpeech({
    name,
    baseUrl: withVersion(baseUrl ?? OPENAI_BASE_URL),
    apiKey,
    model,
    transcriptionModel,
    voice,
    clock,
    dial: createDial(guard),
  });
}

export function createEmbeddings({ credentials }: ProviderOptions): EmbeddingProvider {
  const endpoint = createOpenAiEndpoint(credentials);
  return {
    embedders: Object.values(OPENAI_EMBEDDING_MODELS).map(({ name }) => createOpenAiEmbedder(endpoint, name)),
    close: () => endpoint.close(),
  };
}
