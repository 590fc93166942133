import type { Texts } from './texts.ts';

const SVG = 'http://www.w3.org/2000/svg';
const ICONS = {
  chat: ['M21 12a8 8 0 0 1-8 8H4l2-3a8 8 0 1 1 15-5Z', 'M9 12h.01', 'M13 12h.01', 'M17 12h.01'],
  close: ['M6 6l12 12', 'M18 6 6 18'],
  phone: ['M5 4h4l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v4a2 2 0 0 1-2 2A16 16 0 0 1 3 6a2 2 0 0 1 2-2Z'],
  microphone: ['M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3Z', 'M5 11a7 7 0 0 0 14 0', 'M12 18v3'],
  hangUp: ['M3 14c5-5 13-5 18 0l-2.5 2.5-4-1.5v-3a12 12 0 0 0-5 0v3l-4 1.5Z'],
  send: ['M4 12l16-8-6 16-3-7Z'],
} as const;

/** The elements of the widget. */
export interface View {
  readonly launcher: HTMLButtonElement;
  readonly panel: HTMLElement;
  readonly close: HTMLButtonElement;
  readonly talk: HTMLButtonElement;
  readonly log: HTMLElement;
  readonly problem: HTMLElement;
  readonly call: HTMLElement;
  readonly orb: HTMLElement;
  readonly state: Text;
  readonly time: HTMLTimeElement;
  readonly mute: HTMLButtonElement;
  readonly hangUp: HTMLButtonElement;
  readonly form: HTMLFormElement;
  readonly input: HTMLTextAreaElement;
}

/** Built without markup, which policies of host pages may forbid. */
export function createView(texts: Texts, title: string): View {
  const launcher = button('launcher', 'chat', texts.open);
  launcher.setAttribute('aria-haspopup', 'dialog');
  launcher.setAttribute('aria-expanded', 'false');
  const close = button('icon', 'close', texts.close);
  const talk = button('pill', 'phone', texts.talk, true);
  const log = element('div', 'log', {
    role: 'log',
    'aria-live': 'polite',
    'aria-label': texts.messages,
    tabindex: '0',
  });
  log.append(element('p', 'welcome', {}, texts.welcome));
  const problem = element('p', 'problem', { role: 'alert' });
  problem.hidden = true;
  const orb = element('div', 'orb', { 'aria-hidden': 'true' });
  const state = document.createTextNode('');
  const time = element('time', '');
  const status = element('p', '', { role: 'status' });
  status.append(state, time);
  const mute = button('icon', 'microphone', texts.mute);
  mute.setAttribute('aria-pressed', 'false');
  const hangUp = button('icon stop', 'hangUp', texts.hangUp);
  const call = element('div', 'call');
  call.append(orb, status, mute, hangUp);
  call.hidden = true;
  const input = element('textarea', '', {
    'aria-label': texts.placeholder,
    placeholder: texts.placeholder,
    rows: '1',
    maxlength: '4000',
  });
  const send = button('icon', 'send', texts.send);
  send.type = 'submit';
  const form = element('form', '');
  form.append(input, send);
  const header = element('header', '');
  header.append(element('h2', '', {}, title), talk, close);
  const panel = element('section', 'panel', { role: 'dialog', 'aria-label': title });
  panel.append(header, log, problem, call, form);
  panel.hidden = true;
  return { launcher, panel, close, talk, log, problem, call, orb, state, time, mute, hangUp, form, input };
}

/** A line of the conversation; who says it is told to those who do not see it. */
export function createLine(className: string, name: string): { line: HTMLElement; text: Text } {
  const line = element('p', className);
  const text = document.createTextNode('');
  line.append(element('span', 'name', {}, `${name}: `), text);
  return { line, text };
}

export function createNote(text: string): HTMLElement {
  return element('p', 'note', {}, text);
}

function button(
  className: string,
  icon: keyof typeof ICONS,
  label: string,
  isShown = false,
): HTMLButtonElement {
  const made = element('button', className, isShown ? {} : { 'aria-label': label, title: label });
  made.type = 'button';
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  for (const d of ICONS[icon]) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    svg.append(path);
  }
  made.append(svg);
  if (isShown) made.append(label);
  return made;
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  attributes: Readonly<Record<string, string>> = {},
  text = '',
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== '') made.append(text);
  return made;
}
