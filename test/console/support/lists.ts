import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

const CHOICE_TIMEOUT_MS = 2_000;

/** Chooses from a select list. @param typed - What to search it for. */
export async function choose(
  page: Page,
  list: string,
  option: string | RegExp,
  typed?: string,
): Promise<void> {
  const box = page.getByRole('combobox', { name: list, exact: true });
  const open = async () => {
    await box.click();
    if (typed !== undefined) await box.fill(typed);
  };
  await chooseFrom(open, page.getByRole('option', { name: option }).first());
}

/** Opens a list or a menu again where a page that is still rendering has closed it. */
export async function chooseFrom(open: () => Promise<void>, wanted: Locator): Promise<void> {
  const choice = async () => {
    await open();
    await wanted.click({ timeout: CHOICE_TIMEOUT_MS });
    return true;
  };
  await expect.poll(() => choice().catch(() => false)).toBe(true);
}
