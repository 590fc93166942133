import { startTalk, type Talk, TalkError, type TalkProblem } from '../audio/talk.ts';
import { Conversation } from './conversation.ts';
import { RefusedError, WidgetService } from './service.ts';
import { STYLES } from './styles.ts';
import { type Texts, textsFor } from './texts.ts';
import { createView, type View } from './view.ts';

/** Where the script came from: the service. */
const SCRIPT = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : '';
const BASE = SCRIPT === '' ? location.origin : new URL(SCRIPT).origin;
const PROCESSOR_PATH = '/widget/processor.js';
/** Of the orb, beside its size at rest. */
const ORB_GROWTH = 0.6;

/** `<callway-widget project="…" token="…">`: a button to talk and chat with the agent, for any page. */
export class CallwayWidget extends HTMLElement {
  #view: View | undefined;
  #texts: Texts = textsFor([]);
  #talk: Talk | undefined;
  #isConnecting = false;
  #startedAt = 0;
  #clock: number | undefined;
  #conversation: Conversation | undefined;
  #service: WidgetService | undefined;

  connectedCallback(): void {
    if (this.#view) return;
    this.#texts = textsFor([this.getAttribute('lang'), ...navigator.languages].filter((one) => one !== null));
    const view = createView(this.#texts, this.getAttribute('label') ?? this.#texts.title);
    this.#view = view;
    this.#conversation = new Conversation(view.log, this.#texts);
    const base = this.getAttribute('service') ?? BASE;
    const [project, token] = ['project', 'token'].map((name) => this.getAttribute(name) ?? '');
    this.#service = new WidgetService(new URL(base, location.href).origin, project ?? '', token ?? '');
    const root = this.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
    root.adoptedStyleSheets = [sheet];
    root.append(view.panel, view.launcher);
    this.#listen(view);
  }

  disconnectedCallback(): void {
    this.#talk?.hangUp();
  }

  #listen(view: View): void {
    view.launcher.onclick = () => this.#show(true);
    view.close.onclick = () => this.#show(false);
    view.panel.onkeydown = (event) => {
      // Keys of the widget are none of the page's.
      event.stopPropagation();
      if (event.key === 'Escape') this.#show(false);
    };
    view.talk.onclick = () => void this.#call();
    view.hangUp.onclick = () => this.#talk?.hangUp();
    view.mute.onclick = () => this.#toggleMute(view);
    view.form.onsubmit = (event) => {
      event.preventDefault();
      void this.#send(view);
    };
    view.input.onkeydown = (event) => {
      // Enter also confirms what an input method suggests.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void this.#send(view);
    };
  }

  #show(isOpen: boolean): void {
    const view = this.#view;
    if (!view) return;
    view.panel.hidden = !isOpen;
    view.launcher.hidden = isOpen;
    view.launcher.setAttribute('aria-expanded', String(isOpen));
    this.toggleAttribute('open', isOpen);
    (isOpen ? view.input : view.launcher).focus();
  }

  async #send(view: View): Promise<void> {
    const text = view.input.value.trim();
    if (text === '' || !this.#service || !this.#conversation) return;
    view.input.value = '';
    this.#report();
    this.#conversation.add('caller', text);
    const answer = this.#conversation.add('agent', '');
    let hasAnswer = false;
    try {
      await this.#service.chat(text, (more) => {
        hasAnswer = true;
        answer.write(more);
      });
    } catch (error) {
      this.#report(error);
    }
    if (!hasAnswer) answer.remove();
  }

  async #call(): Promise<void> {
    const [view, service, conversation] = [this.#view, this.#service, this.#conversation];
    if (!view || !service || !conversation || this.#talk || this.#isConnecting) return;
    this.#report();
    this.#isConnecting = true;
    this.#showCall(true, this.#texts.connecting);
    try {
      this.#talk = await startTalk({
        processorUrl: new URL(PROCESSOR_PATH, BASE).href,
        openStream: () => service.openStream(),
        onCaption: (caption) => conversation.caption(caption),
        onLevels: (_caller, agent) => {
          view.orb.style.transform = `scale(${1 + agent * ORB_GROWTH})`;
        },
        onEnd: (problem) => this.#onEnd(problem),
      });
      if (this.isConnected) this.#startClock(view);
      else this.#talk.hangUp();
    } catch (error) {
      this.#showCall(false);
      this.#report(error);
    } finally {
      this.#isConnecting = false;
    }
  }

  #onEnd(problem?: TalkProblem): void {
    this.#talk = undefined;
    this.#service?.forgetSession();
    this.#conversation?.endCaptions();
    this.#conversation?.note(this.#texts.ended);
    this.#showCall(false);
    if (problem) this.#report(new TalkError(problem));
  }

  #showCall(isShown: boolean, state = ''): void {
    const view = this.#view;
    if (!view) return;
    const hadFocus = view.call.contains(this.shadowRoot?.activeElement ?? null);
    clearInterval(this.#clock);
    view.call.hidden = !isShown;
    view.talk.hidden = isShown;
    view.state.data = state;
    view.time.textContent = '';
    view.mute.disabled = true;
    view.hangUp.disabled = true;
    view.mute.setAttribute('aria-pressed', 'false');
    if (hadFocus && !view.panel.hidden) view.talk.focus();
  }

  #startClock(view: View): void {
    view.state.data = this.#texts.inCall;
    view.mute.disabled = false;
    view.hangUp.disabled = false;
    view.hangUp.focus();
    this.#startedAt = Date.now();
    const show = () => {
      const seconds = Math.floor((Date.now() - this.#startedAt) / 1000);
      view.time.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    };
    show();
    this.#clock = setInterval(show, 1000) as unknown as number;
  }

  #toggleMute(view: View): void {
    const isMuted = view.mute.getAttribute('aria-pressed') !== 'true';
    view.mute.setAttribute('aria-pressed', String(isMuted));
    this.#talk?.mute(isMuted);
  }

  /** Shows what went wrong in words; without an error nothing. */
  #report(error?: unknown): void {
    if (!this.#view) return;
    const { problem } = this.#view;
    problem.textContent = error === undefined ? '' : this.#wordsFor(error);
    problem.hidden = error === undefined;
  }

  #wordsFor(error: unknown): string {
    const { problems, wait } = this.#texts;
    if (error instanceof TalkError) return problems[error.problem];
    if (!(error instanceof RefusedError)) return problems.unreachable;
    if (error.code === 'widget_concurrency_exceeded' || error.code === 'call_limit_exceeded')
      return problems.busy;
    if (error.code === 'widget_minutes_exhausted') return problems.minutes;
    if (error.code === 'rate_limited') return wait(error.retryAfterSeconds ?? 60);
    return error.code === 'model_unavailable' ? problems.failed : problems.unreachable;
  }
}
