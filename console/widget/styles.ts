/** Of the shadow root, as a constructed style sheet: the policies of host pages forbid no such. */
export const STYLES = `
:host {
  --accent: var(--callway-accent, #0b7285);
  --on-accent: var(--callway-on-accent, #fff);
  --surface: #fff; --raised: #f1f5f7; --text: #16232b; --dim: #51626d; --line: #d5dee3;
  --mine: #e3f2f5; --bad: #b3261e; --focus: var(--accent); --shadow: 0 12px 40px rgb(15 35 45 / .22);
  position: fixed; inset: auto 20px 20px auto; z-index: 2147483000;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans TC", sans-serif;
  color: var(--text); color-scheme: light;
}
:host([position="left"]) { inset: auto auto 20px 20px; }
:host([hidden]) { display: none; }
@media (prefers-color-scheme: dark) { :host(:not([theme="light"])) {
  --surface: #16212a; --raised: #22313c; --text: #eef4f7; --dim: #aebdc6; --line: #3a4b57;
  --mine: #12424d; --bad: #ff9d94; --focus: #6fd3e6; --shadow: 0 12px 40px rgb(0 0 0 / .6); color-scheme: dark;
} }
:host([theme="dark"]) {
  --surface: #16212a; --raised: #22313c; --text: #eef4f7; --dim: #aebdc6; --line: #3a4b57;
  --mine: #12424d; --bad: #ff9d94; --focus: #6fd3e6; --shadow: 0 12px 40px rgb(0 0 0 / .6); color-scheme: dark;
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
button { font: inherit; color: inherit; border: 0; background: none; cursor: pointer; padding: 0; }
button:focus-visible, textarea:focus-visible, .log:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
button:disabled { opacity: .5; cursor: default; }
svg { width: 22px; height: 22px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; flex: none; }
.launcher {
  display: grid; place-items: center; width: 60px; height: 60px; border-radius: 50%; margin-left: auto;
  background: var(--accent); color: var(--on-accent); box-shadow: var(--shadow); transition: transform .15s;
}
:host([position="left"]) .launcher { margin-left: 0; }
.launcher:hover { transform: scale(1.06); }
.launcher svg { width: 28px; height: 28px; }
.panel {
  display: flex; flex-direction: column; overflow: hidden; width: 380px; height: min(620px, calc(100dvh - 40px));
  background: var(--surface); border: 1px solid var(--line); border-radius: 18px; box-shadow: var(--shadow);
}
header { display: flex; align-items: center; gap: 10px; padding: 14px 16px; background: var(--accent); color: var(--on-accent); }
h2 { flex: 1; margin: 0; font-size: 17px; font-weight: 650; overflow-wrap: anywhere; }
.icon { display: grid; place-items: center; width: 36px; height: 36px; border-radius: 50%; }
header .icon:focus-visible, header .pill:focus-visible { outline-color: var(--on-accent); }
header .icon:hover { background: rgb(255 255 255 / .18); }
.pill { display: flex; align-items: center; gap: 6px; padding: 6px 14px 6px 10px; border-radius: 99px; font-weight: 600; background: var(--on-accent); color: var(--accent); }
.pill svg { width: 18px; height: 18px; }
.log { flex: 1; overflow-y: auto; padding: 16px; display: flex; flex-direction: column; gap: 10px; overscroll-behavior: contain; }
.log > p { margin: 0; max-width: 85%; padding: 9px 13px; border-radius: 14px; white-space: pre-wrap; overflow-wrap: anywhere; }
.welcome, .note { align-self: center; color: var(--dim); text-align: center; }
.note { font-size: 13px; }
.agent { align-self: flex-start; background: var(--raised); border-bottom-left-radius: 4px; }
.caller { align-self: flex-end; background: var(--mine); border-bottom-right-radius: 4px; }
.interim { color: var(--dim); font-style: italic; }
.waiting::after { content: "•••"; letter-spacing: 2px; animation: pulse 1.2s infinite; }
.name { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.problem { margin: 0; padding: 9px 16px; color: var(--bad); font-size: 14px; border-top: 1px solid var(--line); }
.call { display: flex; align-items: center; gap: 12px; padding: 12px 16px; border-top: 1px solid var(--line); background: var(--raised); }
.orb { width: 34px; height: 34px; border-radius: 50%; background: var(--accent); flex: none; transition: transform .07s linear, opacity .2s; opacity: .85; }
.call p { flex: 1; margin: 0; font-weight: 600; }
.call time { display: block; color: var(--dim); font-weight: 400; font-size: 13px; font-variant-numeric: tabular-nums; }
.call .icon { width: 44px; height: 44px; background: var(--surface); border: 1px solid var(--line); }
.call .icon[aria-pressed="true"] { background: var(--text); color: var(--surface); }
.call .stop { background: #b3261e; border-color: #b3261e; color: #fff; }
form { display: flex; align-items: flex-end; gap: 8px; padding: 12px; border-top: 1px solid var(--line); }
textarea {
  flex: 1; resize: none; min-height: 44px; max-height: 140px; padding: 10px 12px; font: inherit; color: inherit;
  background: var(--surface); border: 1px solid var(--dim); border-radius: 12px; field-sizing: content;
}
textarea::placeholder { color: var(--dim); opacity: 1; }
form .icon { width: 44px; height: 44px; background: var(--accent); color: var(--on-accent); }
@keyframes pulse { 50% { opacity: .35; } }
@media (max-width: 480px) {
  :host([open]) { inset: 0; }
  .panel { width: 100%; height: 100%; border-radius: 0; border: 0; }
}
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
`;
