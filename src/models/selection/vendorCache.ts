/** Vendors that no call uses are kept up to this number, with their open connections. */
const MAX_IDLE = 100;

interface Vendor {
  close(): Promise<void>;
}

interface Entry<Kind extends Vendor> {
  readonly vendor: Promise<Kind>;
  users: number;
}

/** Vendors by what they were made with: the calls of one project and key share them. */
export class VendorCache<Kind extends Vendor> {
  readonly #entries = new Map<string, Entry<Kind>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** @returns The vendor, which is kept until {@link release}. */
  async use(key: string, create: () => Promise<Kind>): Promise<Kind> {
    const entry = this.#entries.get(key) ?? { vendor: create(), users: 0 };
    entry.users += 1;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    try {
      return await entry.vendor;
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    }
  }

  release(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.users -= 1;
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    for (const [oldest, { vendor }] of idle.slice(0, Math.max(0, idle.length - MAX_IDLE))) {
      this.#entries.delete(oldest);
      vendor.then((one) => one.close()).catch(this.#onError);
    }
  }

  async close(): Promise<void> {
    const vendors = [...this.#entries.values()].map(({ vendor }) => vendor.then((one) => one.close()));
    this.#entries.clear();
    await Promise.allSettled(vendors);
  }
}
