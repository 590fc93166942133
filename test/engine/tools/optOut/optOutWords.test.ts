import { expect, test } from 'vitest';

import { saysOptOut } from '../../../../src/engine/tools/optOut/optOutWords.ts';

const WISHES = `
Stop calling me
Stop calling me!
Please stop calling me.
Will you stop calling me?
You need to stop calling me
Quit calling this number
I told you to stop calling us
Could you please stop contacting me
Stop harassing me
Please stop calling
Don't call me again
Don’t call again.
Do not call this number again
Do not call me anymore
Never call me again
Don't ever call me again
Don't contact me anymore
Don't call here again, please
Please don't call me.
Take me off your list
Take me off of your list
Please take me off your calling list.
Remove me from your list
Remove my number
Please remove my number.
Remove my number from your database
Delete my number
Get me off your call list
Take my name off the list
Can you take us off your list please
Put me on your do not call list
Put me on your internal do-not-call list
I want to be on your company do not call list
This is a do not call request
Remove me.
Stop all calls
End all calls to this number
Please cancel all future calls
Get me off your stupid list
Add my number to the do-not-call list
I don't want you to call me
I do not want any more calls
I don't want to receive these calls
I no longer wish to be contacted
No more calls, please
Lose my number
I revoke my consent
Unsubscribe
I want to opt out
Opt me out
Yeah, no. Stop calling me, okay?
别再打电话给我了
不要再打电话来了
不要再打給我了
請不要再打電話給我
请勿再打电话
别再给我打电话了！
不要再联系我
請勿再聯絡我
不要再骚扰我
不要骚扰我
別再打來了
停止给我打电话
把我从名单中删除
把我的号码从你们的名单里删除
請把我的電話從名單上移除
把我的電話從你們的名單刪除
请删除我的号码
刪除我的電話號碼
我不想再接到你们的电话
我不要再接到這種電話
我不希望再收到電話
不要给我打电话了
请把我加入谢绝来电名单
不要再打了
别再打了，谢谢
别再打过来了
不要再打電話了
不准再打給我
请不要再给我打电话
別再來電了
我不想再被打扰
别老是打电话给我
不要一直打電話給我
把我的资料从数据库删除
No me llamen más
No me vuelvan a llamar
Dejen de llamarme
Por favor, no me llame más.
Quítenme de su lista
Borren mi número
No quiero que me llamen
Nunca me vuelva a llamar
Ya no quiero recibir más llamadas
Elimine mi número de su base de datos
Rufen Sie mich nicht mehr an
Rufen Sie hier nie wieder an!
Hören Sie auf, mich anzurufen
Streichen Sie mich von Ihrer Liste
Bitte löschen Sie meine Nummer
Ich möchte keine Anrufe mehr
Ich will nicht mehr angerufen werden
Nehmen Sie mich bitte aus Ihrer Liste
Bitte nicht mehr anrufen
Arrêtez de m'appeler
Ne m'appelez plus
Ne me rappelez plus jamais
Retirez-moi de votre liste
Supprimez mon numéro
Je ne veux plus être appelé
Enlevez mon numéro de votre liste, s'il vous plaît
Cessez de me contacter
もう電話しないでください
二度とかけてこないで、二度と電話しないで
もう電話をかけないで
電話をかけてくるのをやめてください
リストから削除してください
リストから私の番号を消して
私の番号を削除してください
もう連絡しないでください
電話はもう結構です
I asked you not to call me
I told you people not to call here anymore
I want to be removed from your call list
I want my number removed
I want off your list
Cease and desist calling me
Stop these calls
Don't call my cell phone anymore
Don't call me back
Don't you ever call me again
Could you please not call me again
Don't bother calling again
You are not allowed to call me anymore
You don't have my permission to call me
If you call me again I will report you
Make sure I don't get any more calls
Put me down as do not call
I never want to hear from you again
Do not call list, please
以后别打了
请把我的号码删掉
再打我就报警了
把我拉黑吧
Eliminad mi número de vuestra base de datos
Dejad de llamarme
No me llaméis más
Les pido que no me llamen más
No autorizo que me llamen
Borren mis datos
Bitte rufen Sie nicht mehr an
Löschen Sie alle gespeicherten Daten von mir
Ich widerrufe meine Einwilligung
Ich möchte nicht, dass Sie mich noch einmal anrufen
Unterlassen Sie weitere Anrufe
Merci de ne plus m'appeler
Arrêtez d'appeler
Supprimez mes coordonnées
Je m'oppose au démarchage
Inutile de me rappeler
Veuillez me retirer de votre liste
二度とかけてこないでください
今後のお電話はご遠慮ください
営業電話はお断りします
もうかけないでください
電話をやめてください`;

const OTHERS = `
I'll call again
I told my ex to stop calling me
I didn't ask you to stop calling me
What happens if I opt out?
I don't want you to call me Mr Smith
I was told not to call you again
Don't call me back before noon
今天别打了，明天再打
他说不要再打电话给他
Que no me llamen Juan
Dijo que no me llamen más tarde
Ich kann Sie nicht mehr anrufen
Ich habe keine Anrufe mehr bekommen
Der Arzt ruft nicht mehr an
Pourquoi vous ne m'appelez plus ?
Arrêtez de m'appeler Jean
Ne me rappelez pas avant lundi
彼は二度と電話してこないと言った
夜は電話しないでください
Don't stop
Don't stop calling me
Don't call me before nine
Stop calling me before nine, please
Don't call me at work
Don't call me after eight
Don't call me again before Monday
Don't call me today
Please don't call me tomorrow
Don't call me sir
Stop calling me sir
My list is long
It is on my list
Take me off hold
Take me off the waiting list
Take milk off my list
Remove my number from speed dial and add it here
Did you stop calling me?
Why did you stop calling me?
Why don't you call me again tomorrow
They never call me anymore
You don't call me anymore
He told me to stop
I can't stop calling him
Stop
Stop, stop, wait
Stop calling him
Never mind, call me again later
Don't call me until Friday
If you stop calling me I will be sad
Can you call me again?
I have no more calls today
Don't hang up
Call me again anytime
I don't want to call you
I didn't get your call
Remove the number two from my order
I don't want any more coffee
Please don't remove my number
What does opt out mean?
Who do I call to stop the service?
Don't call my boss
You can call this number again
I'd like to be called again
再打一次
请再打电话给我
不要挂断
我会再打电话
明天再打给我
不要打错了
别再说了
我想再听一次
请再联系我
不要停
别走
把牛奶从名单上拿掉
我的号码是多少
请记下我的号码
名单上有我吗
你打错了
我再打给你
不用再说了
不要再来一杯
可以再打吗
请删除我的订单
我不想再等了
我不要这个
别再打错了
他不要再打游戏了
不要再打断我
电话打不通
晚上再打电话来
我没有接到电话
不要客气
请给我打电话
这个电话不对
我要删除订单
再见
不要紧
别担心
停止
没有再打来
Llámeme mañana
No me llame antes de las nueve
No deje de llamarme
Vuelva a llamar, por favor
No me llame hoy
Por qué no me llaman más
Mi lista es larga
Rufen Sie mich nicht vor neun an
Rufen Sie mich morgen wieder an
Hören Sie auf
Meine Nummer steht auf der Liste
Warum rufen Sie mich nicht mehr an
Rufen Sie mich bitte wieder an
Rappelez-moi demain
Ne m'appelez plus avant neuf heures
Pourquoi ne m'appelez-vous plus
N'arrêtez pas
Je ne veux pas ça
また電話してください
もう一度電話してください
電話を待っています
リストを見せてください
やめてください
明日電話して
もう少し待って
Remove me from the appointment on Monday
Stop
Cancel my calls for Monday
I'm not interested`;

const lines = (text: string) => text.trim().split('\n');

test('Wishes for no more calls are told from others', () => {
  expect(lines(WISHES).filter((text) => !saysOptOut(text))).toEqual([]);
  expect(lines(OTHERS).filter(saysOptOut)).toEqual([]);
});

test('Words that are repeated without end are no wish, and cost no time', () => {
  for (const words of ['any more ', 'please ', 'take me off '])
    expect(saysOptOut(`I don't want ${words.repeat(2_000)}`)).toBe(false);
});
