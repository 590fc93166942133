import { type EventFeed, type FeedListener, streamedEvent } from '../../../events/eventFeed.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';
import { channelOf, type EventLog } from './eventLog.ts';

export interface EventFeedDeps {
  readonly log: EventLog;
  /** A connection of its own: a subscribed connection cannot send commands. */
  readonly subscriber: RedisConnection;
  readonly onError: (error: unknown, what: string) => void;
}

/** The subscription for all streams of a node. It receives the events of the projects that have streams here. */
export class RedisEventFeed implements EventFeed {
  readonly after: EventFeed['after'];
  readonly has: EventFeed['has'];
  readonly newest: EventFeed['newest'];
  readonly #deps: EventFeedDeps;
  readonly #listeners = new Map<string, Set<FeedListener>>();
  /** The projects by their channels. */
  readonly #projects = new Map<string, string>();

  constructor(deps: EventFeedDeps) {
    this.#deps = deps;
    ({ after: this.after, has: this.has, newest: this.newest } = deps.log);
    const { client } = deps.subscriber;
    client.on('message', (channel, message) => this.#hear(channel, message));
    client.on('ready', () => void this.#subscribeAgain());
  }

  async listen(projectId: string, listener: FeedListener): Promise<() => void> {
    const listeners = this.#listeners.get(projectId) ?? new Set();
    this.#listeners.set(projectId, listeners);
    listeners.add(listener);
    const stop = () => this.#stop(projectId, listener);
    try {
      // For each listener: the one before may still be waiting for the same.
      await this.#subscribe([projectId]);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  async #subscribe(projects: readonly string[]): Promise<void> {
    const channels = projects.flatMap((projectId) => {
      const both = this.#channelsOf(projectId);
      for (const channel of both) this.#projects.set(channel, projectId);
      return both;
    });
    if (channels.length > 0) await orUnavailable(this.#deps.subscriber.client.subscribe(...channels));
  }

  /** Subscribes again after a reconnect. */
  async #subscribeAgain(): Promise<void> {
    try {
      await this.#subscribe([...this.#listeners.keys()]);
    } catch (error) {
      // The connection is lost again; the next one subscribes.
      this.#deps.onError(error, 'events not subscribed to');
      return;
    }
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener.onGap();
  }

  #stop(projectId: string, listener: FeedListener): void {
    const { subscriber, onError } = this.#deps;
    const listeners = this.#listeners.get(projectId);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.#listeners.delete(projectId);
    const channels = this.#channelsOf(projectId);
    for (const channel of channels) this.#projects.delete(channel);
    if (!subscriber.isReady()) return;
    subscriber.client
      .unsubscribe(...channels)
      .catch((error: unknown) => onError(error, 'events not unsubscribed from'));
  }

  #channelsOf(projectId: string): [kept: string, interim: string] {
    const { subscriber } = this.#deps;
    return [channelOf(subscriber, projectId, 'kept'), channelOf(subscriber, projectId, 'interim')];
  }

  #hear(channel: string, message: string): void {
    const listeners = this.#listeners.get(this.#projects.get(channel) ?? '');
    if (!listeners) return;
    try {
      const end = message.indexOf(' ');
      const event = streamedEvent({ id: message.slice(0, end), text: message.slice(end + 1) });
      for (const listener of listeners) listener.onEvent(event);
    } catch (error) {
      this.#deps.onError(error, 'invalid event');
    }
  }
}
