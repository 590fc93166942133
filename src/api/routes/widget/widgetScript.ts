import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

import { CompressedBody } from '../../compressedBody.ts';
import type { App, HttpDeps } from '../../ports.ts';

const CACHE_SECONDS = 300;
/** Pages of any origin load them; they hold nothing secret. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': `public, max-age=${CACHE_SECONDS}, stale-while-revalidate=86400`,
};
const SCRIPTS = [
  {
    url: '/widget.js',
    file: 'widget.js',
    summary: 'The widget for web pages',
    description:
      'A classic script that defines `<callway-widget project="…" token="…">`, a button to talk and chat with the agent. The token is one of `POST /v1/projects/{projectId}/widget-tokens`.',
  },
  {
    url: '/widget/processor.js',
    file: 'processor.js',
    summary: 'The widget’s audio thread',
    description: 'An AudioWorklet module, which the widget and the console load.',
  },
] as const;

/** The built widget. Nothing without a build. */
export function widgetScriptRoutes(app: App, { settings: { widgetFolder } }: HttpDeps): void {
  if (widgetFolder === undefined) return;
  for (const { url, file, ...described } of SCRIPTS) {
    const script = new CompressedBody(readFileSync(join(widgetFolder, file)));
    const content = { 'text/javascript': { schema: z.string() } };
    const response = {
      200: { description: 'The script.', content },
      304: z.null().describe('Unchanged.'),
    };
    app.get(url, { schema: { tags: ['Widget'], ...described, response } }, async (request, reply) => {
      reply.headers(HEADERS).type('text/javascript; charset=utf-8');
      return await script.send(request, reply);
    });
  }
}
