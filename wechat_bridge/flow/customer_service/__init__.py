"""Customer service of WeCom (微信客服): an account is read page by page, as a channel of its own."""
