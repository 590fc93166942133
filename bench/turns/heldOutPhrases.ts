import type { Language, Phrases } from './phraseSet.ts';

type Words = Pick<
  Phrases,
  'leads' | 'asking' | 'actions' | 'additions' | 'reasons' | 'questions' | 'answers' | 'numbers'
>;

/** What the held-out tenth says: no rule was made while looking at these words. */
export const HELD_OUT_PHRASES: Readonly<Record<Language, Words>> = {
  en: {
    leads: [
      'I was hoping to',
      'we are trying to',
      'I have been told to',
      'would you help me to',
      "I'd love to",
    ],
    asking: ['would you'],
    actions: [
      'report a broken heater',
      'extend my contract',
      'find a cheaper hotel',
      'send the parcel back',
      'reset my password',
    ],
    additions: [
      'near the airport',
      'by the end of the month',
      'without any fees',
      'after five',
      'for both kids',
    ],
    reasons: ['the line was dead', 'they moved the meeting', 'it never worked', 'our flight leaves early'],
    questions: [
      'which bus goes to the museum',
      'has it been shipped already',
      'are dogs allowed',
      'why was I charged',
    ],
    answers: ['of course', 'I guess so', 'never', 'around noon', 'Susan Baker', 'the blue one'],
    numbers: ['the account is', 'it starts with', 'here is the number'],
  },
  de: {
    leads: [
      'ich hätte gern',
      'wir hatten vor',
      'ich bräuchte Hilfe beim',
      'darf ich',
      'mir wurde gesagt ich soll',
    ],
    asking: ['darf ich'],
    actions: [
      'die Heizung melden',
      'den Vertrag verlängern',
      'ein günstiges Hotel finden',
      'das Paket zurückschicken',
      'mein Passwort ändern',
    ],
    additions: [
      'in der Nähe vom Flughafen',
      'bis Ende des Monats',
      'ohne Gebühren',
      'nach fünf',
      'für beide Kinder',
    ],
    reasons: [
      'die Leitung tot war',
      'der Termin verlegt wurde',
      'es nie funktioniert hat',
      'unser Flug früh geht',
    ],
    questions: [
      'welcher Bus fährt zum Museum',
      'ist es schon unterwegs',
      'sind Hunde erlaubt',
      'warum war das so teuer',
    ],
    answers: ['natürlich', 'ich glaube schon', 'niemals', 'gegen Mittag', 'Susanne Becker', 'die blaue'],
    numbers: ['das Konto ist', 'es beginnt mit', 'hier ist die Nummer'],
  },
  zh: {
    leads: ['我希望', '我們打算', '有人叫我', '能不能', '我在考慮'],
    asking: ['能不能'],
    actions: ['報修暖氣', '延長合約', '找便宜的旅館', '把包裹寄回去', '重設密碼'],
    additions: ['在機場附近', '月底以前', '不要手續費', '五點以後', '兩個小孩都要'],
    reasons: ['電話打不通', '會議改了時間', '它從來不動', '我們的飛機很早'],
    questions: ['哪一班公車到博物館', '已經寄出了嗎', '可以帶狗嗎', '為什麼收我錢'],
    answers: ['當然', '應該是吧', '從來沒有', '中午左右', '陳美玲', '藍色那件'],
    numbers: ['帳號是', '開頭是', '號碼在這裡'],
  },
};
