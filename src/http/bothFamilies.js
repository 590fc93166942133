import { z } from 'zod';

const projectId = { projectId: z.string() };
/**
 * Registers a knowledge route in both of its families: under the project's path with a Bearer key, and without a
 * project in the path with the header `x-api-key`, whose key names the project.
 *
 * @param path - Begins with `/knowledgebases`.
 */
export function onBothFamilies(path, scope, register) {
  register({
    url: `/v1/projects/:projectId${path}`,
    config: { access: { kind: 'project', scope } },
    security: [{ bearer: [] }],
    params: (shape) =>
      // Handlers take the project from the key, so that they are the same for both.
      z.object({ ...projectId, ...shape }),
  });
  register({
    url: path,
    config: { access: { kind: 'knowledge', scope } },
    security: [{ apiKey: [] }],
    params: (shape) => z.object(shape),
  });
}
