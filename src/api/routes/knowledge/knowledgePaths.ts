import { z } from 'zod';

import type { Scope } from '../../../agents/accounts/apiKey.ts';
import type { Access } from '../../plugins/accessControl.ts';

/** What tells the two registrations of a knowledge route apart. */
export interface FamilySettings {
  readonly url: string;
  readonly config: { readonly access: Access };
  /** How it stands in the document. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** The path's parameters, with the project's where it is among them. */
  params<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape>;
}

const projectId = { projectId: z.string() };

/**
 * Registers a knowledge route in both of its families: under the project's path with a Bearer key, and without a
 * project in the path with the header `x-api-key`, whose key names the project.
 *
 * @param path - Begins with `/knowledgebases`.
 */
export function onBothFamilies(
  path: string,
  scope: Scope,
  register: (settings: FamilySettings) => void,
): void {
  register({
    url: `/v1/projects/:projectId${path}`,
    config: { access: { kind: 'project', scope } },
    security: [{ bearer: [] }],
    params: <Shape extends z.ZodRawShape>(shape: Shape) =>
      // Handlers take the project from the key, so that they are the same for both.
      z.object({ ...projectId, ...shape }) as unknown as z.ZodObject<Shape>,
  });
  register({
    url: path,
    config: { access: { kind: 'knowledge', scope } },
    security: [{ apiKey: [] }],
    params: (shape) => z.object(shape),
  });
}
