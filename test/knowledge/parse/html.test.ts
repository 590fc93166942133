import { expect, test } from 'vitest';

import { readTexts } from './support.ts';

test.each<[string, string]>([
  ['the attribute', '<p hidden>PLANTED</p><p hidden="until-found">PLANTED</p>'],
  ['display', '<div style="DISPLAY : None !important">PLANTED <p>PLANTED</p></div>'],
  ['visibility', '<p style="visibility:hidden">PLANTED <b>PLANTED</b></p>'],
  ['opacity', '<p style="opacity:0">PLANTED</p><p style="opacity:0.0"><i style="opacity:1">PLANTED</i></p>'],
  [
    'font size',
    '<p style="font-size:0">PLANTED <b style="font-size:2em">PLANTED</b></p><p style="font-size:1px">PLANTED</p>',
  ],
  [
    'position',
    '<p style="position:absolute;left:-9999px">PLANTED</p><p style="position:fixed;top:-200vh">PLANTED</p>',
  ],
  ['indent', '<p style="text-indent:-9999px">PLANTED</p><p style="margin-left:-999em">PLANTED</p>'],
  [
    'transform',
    '<p style="transform:scale(0)">PLANTED</p><p style="transform:translateX(-9999px)">PLANTED</p>',
  ],
  [
    'clipping',
    '<p style="clip:rect(0 0 0 0)">PLANTED</p><p style="clip-path:inset(50%)">PLANTED</p><p style="overflow:hidden;height:0">PLANTED</p>',
  ],
  [
    'color',
    '<p style="color:#fff">PLANTED</p><p style="background:black;color:#000">PLANTED</p><p style="color:transparent">PLANTED</p><font color=white>PLANTED</font>',
  ],
  ['content-visibility', '<div style="content-visibility:hidden">PLANTED<p>PLANTED</p></div>'],
  [
    'elements',
    '<template>PLANTED</template><noscript>PLANTED</noscript><dialog>PLANTED</dialog><!-- PLANTED -->',
  ],
  [
    'class, id and name in a style sheet',
    '<style>/* x */ .a, #b{display:none} aside{visibility:hidden}</style><p class="x a">PLANTED</p><p id=b>PLANTED</p><aside>PLANTED</aside>',
  ],
  ['a style sheet after it', '<p class=a>PLANTED</p><style>p.a{display:none}</style>'],
  [
    'selectors of several elements',
    '<style>.box > p, #m .n b{display:none}</style><div class=box><p>PLANTED</p></div><div id=m><i class=n><u><b>PLANTED</b></u></i></div>',
  ],
  ['a style sheet for screens', '<style>@media screen{.a{display:none}}</style><p class=a>PLANTED</p>'],
])('HTML that is hidden by %s is left out', async (_, markup) => {
  expect(await readTexts('html', `<!doctype html><body>${markup}<p>Seen</p></body>`)).toEqual(['Seen']);
});

test.each<[string, string]>([
  ['visible in a hidden element', '<p style="visibility:hidden"><b style="visibility:visible">Seen</b></p>'],
  [
    'of a size in an element without one',
    '<div style="font-size:0"><b style="font-size:16px">Seen</b></div>',
  ],
  ['shown by its style', '<style>.a{display:none}</style><p class=a style="display:block">Seen</p>'],
  [
    'shown by a later or a stronger rule',
    '<style>.a{display:none} .b{display:block} #c{display:block} p.c{display:none}</style><p class="a b">Seen</p>',
  ],
  [
    'hidden in print, or on small screens',
    '<style>@media print{.a{display:none}} @media (max-width:600px){.a{display:none}}</style><p class=a>Seen</p>',
  ],
  [
    'hidden only before a click',
    '<style>.a:hover{display:none} .a::after{display:none}</style><p class=a>Seen</p>',
  ],
  ['light on a dark ground', '<div style="background:#222"><p style="color:white">Seen</p></div>'],
  [
    'light, where another style sheet may set the ground',
    '<link rel=stylesheet href=a.css><p style="color:white">Seen</p>',
  ],
  ['beside a small offset', '<p style="margin-left:-15px;position:relative;top:-2px">Seen</p>'],
  ['hidden from screen readers alone', '<p aria-hidden="true">Seen</p>'],
  [
    'light on a dark ground of its cell',
    '<table><tr><td bgcolor="#000000"><font color="white">Seen</font></td></tr></table>',
  ],
  ['light over something else', '<p style="position:absolute;top:20px;color:white">Seen</p>'],
])('HTML that is %s is read', async (_, markup) => {
  expect(await readTexts('html', `<!doctype html><body>${markup}</body>`)).toEqual(['Seen']);
});

test.each([
  [
    'down',
    '<tr><td rowspan=2>Monday<td>Lin<tr><td>Chen<tr><td>Friday<td>Wu',
    ['Monday | Lin', 'Monday | Chen', 'Friday | Wu'],
  ],
  [
    'at the end of a row',
    '<tr><td>Lin<td rowspan=2>2 pm<tr><td>Chen<tr><td>Wu<td>3 pm',
    ['Lin | 2 pm', 'Chen | 2 pm', 'Wu | 3 pm'],
  ],
  [
    'down and across',
    '<tr><td rowspan=2 colspan=2>Weekdays<td>9 am<tr><td>1 pm',
    ['Weekdays | 9 am', 'Weekdays | 1 pm'],
  ],
  [
    'down to a long text',
    `<tr><td rowspan=2>${'long '.repeat(60)}<td>a<tr><td>b`,
    [`${'long '.repeat(60)}| a`, 'b'],
  ],
])('Each row of HTML has the cells that are merged %s', async (_, rows, texts) => {
  expect(await readTexts('html', `<!doctype html><table>${rows}</table>`)).toEqual(texts);
});

test('HTML whose merged cells reach beyond 1,000 columns is refused', async () => {
  const rows = '<tr><td rowspan=9999 colspan=600>a'.repeat(3);
  await expect(readTexts('html', `<table>${rows}`)).rejects.toThrow('more than 1000 columns');
});

test('HTML with a row of more than 1,000 cells is refused', async () => {
  await expect(readTexts('html', `<table><tr>${'<td>'.repeat(2_000)}`)).rejects.toThrow(
    'more than 1000 columns',
  );
});
