import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { deliveredPackages, licencePage, noticeFile } from '../lib/licences.mjs';
import { root } from '../lib/paths.mjs';

/** Writes docs/licences.md and NOTICE from the lock files and the installed packages. */
export async function run() {
  await ensureDependencies();
  const packages = deliveredPackages();
  writeFileSync(join(root, 'docs', 'licences.md'), licencePage(packages));
  writeFileSync(join(root, 'NOTICE'), noticeFile(packages));
  console.log(`Wrote docs/licences.md (${packages.length} packages) and NOTICE.`);
}
