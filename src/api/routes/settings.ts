import { z } from 'zod';

import type { App, HttpDeps } from '../ports.ts';
import { about, errors } from '../schemas.ts';

const shown = z.object({
  settings: z
    .record(z.string(), z.string())
    .describe('By name, as in the environment; secrets are `[redacted]`.'),
});

export function settingRoutes(app: App, deps: HttpDeps): void {
  app.get(
    '/v1/settings',
    {
      config: { access: { kind: 'admin' } },
      schema: {
        ...about(
          'Operations',
          'Get the settings of this node',
          'Those that are set, and the defaults of the others.',
        ),
        response: { 200: shown, ...errors() },
      },
    },
    async () => ({ settings: { ...deps.settings.shown } }),
  );
}
