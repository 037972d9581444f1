// node login.mjs BASE_URL: a whole QR login; a verify code is read from stdin.
import { official, report } from "./official_client.mjs";

const [baseUrl] = process.argv.slice(2);
const QR_HOST = "https://ilinkai.weixin.qq.com";
const fetchReally = globalThis.fetch;
// The client asks for QR codes at a fixed host.
globalThis.fetch = (url, options) => fetchReally(String(url).replace(QR_HOST, baseUrl), options);

const { startWeixinLoginWithQr, waitForWeixinLogin } = await official("auth/login-qr.js");
const started = await startWeixinLoginWithQr({ apiBaseUrl: baseUrl });
report(await waitForWeixinLogin({ sessionKey: started.sessionKey, apiBaseUrl: baseUrl, timeoutMs: 20_000 }));
