// node picture.mjs BASE_URL TOKEN FILE: receive a picture, save it to FILE, and send it back with a caption.
import fs from "node:fs/promises";

import { official, report } from "./official_client.mjs";

const { getUpdates } = await official("api/api.js");
const { downloadAndDecryptBuffer } = await official("cdn/pic-decrypt.js");
const { sendWeixinMediaFile } = await official("messaging/send-media.js");
const [baseUrl, token, filePath] = process.argv.slice(2);
const cdnBaseUrl = `${baseUrl}/c2c`;

const { msgs } = await getUpdates({ baseUrl, token, get_updates_buf: "" });
const { media } = msgs[0].item_list[0].image_item;
const withoutFullUrl = await downloadAndDecryptBuffer(media.encrypt_query_param, media.aes_key, cdnBaseUrl, "test");
const byFullUrl = await downloadAndDecryptBuffer("", media.aes_key, cdnBaseUrl, "test", media.full_url);
await fs.writeFile(filePath, byFullUrl);

const opts = { baseUrl, token, contextToken: msgs[0].context_token };
const sent = await sendWeixinMediaFile({ filePath, to: msgs[0].from_user_id, text: "yours", opts, cdnBaseUrl });
report({ sent, same: byFullUrl.equals(withoutFullUrl) });
