import { z } from 'zod';
import { text } from '../../../agents/pathway/schema/fields.ts';
import { currentSpeech } from '../../../agents/speech/language.ts';
import { speech } from '../../../agents/speech/speechConfig.ts';
import { notFound } from '../../../base/errors.ts';
import { wavHeader } from '../../../media/wav.ts';
import { MAX_PREVIEW_CHARACTERS } from '../../../voice/speechPreview.ts';
import { disconnectSignal } from '../../disconnectSignal.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';
import { requireAllowed } from '../../sourceLimits.ts';

/** A low limit, since each preview costs money at a provider. */
const PREVIEWS_PER_MINUTE = 30;

const body = z.strictObject({
  text: text(1, MAX_PREVIEW_CHARACTERS).describe('Said as on the phone: Markdown is not read out.'),
  speech: speech
    .optional()
    .describe(
      'As at a node: its keys go before those of the agent’s working copy. Voices of `fallback` are not used.',
    ),
});

/** Typed as plain objects, since bytes are sent, not a value of the schemas. */
const response: Record<string, object> = {
  200: {
    description: 'WAV: 16 bits, mono, at the provider’s rate.',
    content: { 'audio/wav': { schema: z.string().meta({ format: 'binary' }) } },
  },
  ...errors('body', 422),
};

/** Says a text in a voice of the project. */
export function speechPreviewRoute(
  app: App,
  { storage, access: { rateLimiter }, agents: { speechPreview } }: HttpDeps,
): void {
  app.post(
    '/v1/projects/:projectId/speech/preview',
    {
      config: { access: { kind: 'project', scope: 'write' }, isLong: true },
      schema: {
        ...about(
          'Speech',
          'Say a text in a voice',
          `With the project’s own credentials where it has some. At most ${PREVIEWS_PER_MINUTE} a minute; the characters count in the project’s usage. What the provider refuses, such as the key or the voice, is 422 \`speech_rejected\`; a provider that does not answer is 503 \`speech_unavailable\`.`,
        ),
        params: projectParams,
        body,
        response,
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      const signal = disconnectSignal(reply);
      requireAllowed(
        'previews of this project',
        await rateLimiter.take(`speech-preview:${projectId}`, PREVIEWS_PER_MINUTE),
      );
      const agent = await storage.stores.agents.find(projectId);
      if (!agent) throw notFound('Agent');
      const current = currentSpeech(agent.config.speech, request.body.speech, {});
      const config = { ...current.speech, language: current.language };
      try {
        const { samples, sampleRateHz } = await speechPreview.say(
          projectId,
          request.body.text,
          config,
          signal,
        );
        const header = wavHeader({ sampleRateHz, channels: 1 }, samples.byteLength);
        const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
        return await reply
          .type('audio/wav')
          .header('cache-control', 'no-store')
          .send(Buffer.concat([header, bytes]));
      } catch (error) {
        if (!signal.aborted) throw error;
        return reply;
      }
    },
  );
}
