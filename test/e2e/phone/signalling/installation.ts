import { phoneInstallation } from '../support/installation.ts';

/** Of all suites in this folder, since a start costs more than most of their tests. */
export const installation = await phoneInstallation();
