import { HELD_OUT_PHRASES } from './heldOutPhrases.ts';
import type { Language, Phrases } from './phraseSet.ts';

const GROUPS = ['3 3 4', '4 3 3', '4 2 2 2', '5 5', '3 4 4', '2 2 3 3', '4 4 4', '2 3', '3 3', '4'];

const spaced = (words: readonly string[]) => words.join(' ');
const randomDigits = (words: string, joint: string) => (count: string, random: () => number) => {
  const names = words.split(' ');
  return Array.from({ length: Number(count) }, () => names[Math.floor(random() * names.length)]).join(joint);
};

const ENGLISH: Phrases = {
  voice: 'en-us',
  leads: ['I would like to', 'I want to', 'we have to', 'I need to', 'I am calling to', 'could you please'],
  asking: ['could you'],
  actions: [
    'book a table',
    'change my appointment',
    'cancel the order',
    'speak to the doctor',
    'pay the last invoice',
    'move the delivery',
    'return the shoes',
    'rent a small car',
  ],
  additions: [
    'for two people',
    'on Thursday evening',
    'before the weekend',
    'at half past nine',
    'for my daughter',
    'in the first week of May',
    'with a friend from work',
    'as soon as possible',
  ],
  conjunctions: ['because', 'and', 'but', 'so'],
  reasons: [
    'my train is late',
    'the other one is broken',
    'I have no car',
    'we are more than we thought',
    'nobody answered my letter',
    'my wife has a meeting',
  ],
  questions: [
    'what time do you open',
    'how much does it cost',
    'is there a table free tonight',
    'do you deliver on Sundays',
    'where can I park my car',
    'can I pay by card',
    'when will it arrive',
    'who should I talk to',
  ],
  answers: [
    'yes',
    'no',
    'yes please',
    'no thank you',
    'that is right',
    'tomorrow morning',
    'not really',
    'my name is Peter Miller',
    'the second one',
    'that would be great',
  ],
  fillers: ['um', 'uh', 'er', 'hmm', 'well'],
  numbers: ['my number is', 'it is', 'the code is', 'you can call me at'],
  groups: GROUPS,
  join: spaced,
  digits: randomDigits('zero one two three four five six seven eight nine', ' '),
};

const GERMAN: Phrases = {
  voice: 'de',
  leads: ['ich möchte', 'ich würde gerne', 'wir müssten', 'ich wollte', 'könnten Sie bitte', 'ich muss'],
  asking: ['könnten Sie'],
  actions: [
    'einen Tisch reservieren',
    'meinen Termin verschieben',
    'die Bestellung stornieren',
    'mit der Ärztin sprechen',
    'die letzte Rechnung bezahlen',
    'die Lieferung ändern',
    'die Schuhe zurückgeben',
    'ein kleines Auto mieten',
  ],
  additions: [
    'für zwei Personen',
    'am Donnerstag abend',
    'vor dem Wochenende',
    'um halb zehn',
    'für meine Tochter',
    'in der ersten Maiwoche',
    'mit einem Kollegen',
    'so bald wie möglich',
  ],
  conjunctions: ['weil', 'und', 'aber', 'wenn'],
  reasons: [
    'mein Zug Verspätung hat',
    'der andere kaputt ist',
    'ich kein Auto habe',
    'wir mehr Leute sind',
    'niemand geantwortet hat',
    'meine Frau arbeiten muss',
  ],
  questions: [
    'wann machen Sie auf',
    'was kostet das',
    'haben Sie heute noch einen Tisch frei',
    'liefern Sie auch am Sonntag',
    'wo kann ich parken',
    'kann ich mit Karte zahlen',
    'wann kommt es an',
    'wer ist dafür zuständig',
  ],
  answers: [
    'ja',
    'nein',
    'ja bitte',
    'nein danke',
    'das stimmt',
    'morgen früh',
    'eigentlich nicht',
    'mein Name ist Peter Müller',
    'das zweite',
    'das wäre schön',
  ],
  fillers: ['äh', 'ähm', 'hm', 'also', 'naja'],
  numbers: ['meine Nummer ist', 'das ist die', 'der Code ist', 'Sie erreichen mich unter'],
  groups: GROUPS,
  join: spaced,
  digits: randomDigits('null eins zwei drei vier fünf sechs sieben acht neun', ' '),
};

const CHINESE: Phrases = {
  voice: 'cmn',
  leads: ['我想要', '我想', '我們需要', '可以幫我', '請幫我', '我打來是要'],
  asking: ['可以'],
  actions: [
    '訂一張桌子',
    '改預約的時間',
    '取消訂單',
    '跟醫生說話',
    '付上個月的帳單',
    '改送貨的地址',
    '退這雙鞋子',
    '租一台小車',
  ],
  additions: [
    '兩個人',
    '星期四晚上',
    '週末以前',
    '早上九點半',
    '給我女兒',
    '五月第一個星期',
    '跟一位同事一起',
    '越快越好',
  ],
  conjunctions: ['因為', '而且', '但是', '所以'],
  reasons: ['我的火車晚了', '另外一個壞了', '我沒有車', '我們的人比較多', '沒有人回我的信', '我太太要開會'],
  questions: [
    '你們幾點開門',
    '這個多少錢',
    '今天晚上還有位子嗎',
    '星期天有送貨嗎',
    '哪裡可以停車',
    '可以刷卡嗎',
    '什麼時候會到',
    '我應該找誰',
  ],
  answers: ['是', '不是', '好的', '不用謝謝', '沒錯', '明天早上', '還好', '我叫王小明', '第二個', '這樣很好'],
  fillers: ['嗯', '呃', '那個', '就是', '這個'],
  numbers: ['我的電話是', '號碼是', '密碼是', '可以打'],
  groups: GROUPS,
  join: (words) => words.join(''),
  digits: randomDigits('零 一 二 三 四 五 六 七 八 九', ''),
};

/** @param isHeldOut - The held-out tenth has words of its own. */
export function phrasesOf(language: Language, isHeldOut: boolean): Phrases {
  const phrases = { en: ENGLISH, de: GERMAN, zh: CHINESE }[language];
  return isHeldOut ? { ...phrases, ...HELD_OUT_PHRASES[language] } : phrases;
}
