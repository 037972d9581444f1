// node converse.mjs BASE_URL TOKEN: one text in, typing on, one text out, typing off.
import { official, report } from "./official_client.mjs";

const { getConfig, getUpdates, notifyStart, notifyStop, sendTyping } = await official("api/api.js");
const { sendMessageWeixin } = await official("messaging/send.js");
const [baseUrl, token] = process.argv.slice(2);
const account = { baseUrl, token };

await notifyStart(account);
const first = await getUpdates({ ...account, get_updates_buf: "" });
const message = first.msgs[0];
const user = message.from_user_id;
const config = await getConfig({ ...account, ilinkUserId: user, contextToken: message.context_token });
const showTyping = (status) =>
  sendTyping({ ...account, body: { ilink_user_id: user, typing_ticket: config.typing_ticket, status } });

await showTyping(1);
const text = `echo: ${message.item_list[0].text_item.text}`;
const sent = await sendMessageWeixin({ to: user, text, opts: { ...account, contextToken: message.context_token } });
await showTyping(2);
const second = await getUpdates({ ...account, get_updates_buf: first.get_updates_buf });
await notifyStop(account);
report({ message, sent, second });
